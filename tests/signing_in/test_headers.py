"""What every answer carries to keep a browser safe."""

from contextlib import closing

import pytest
from django.test import Client

from config.signin_links import first_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/healthz", "/signin/", "/nowhere/", "/static/css/base.css"])
def test_every_answer_carries_the_same_strict_policy(client: Client, address: str) -> None:
    client.force_login(first_user())

    with closing(client.get(address)) as answer:
        headers = answer.headers

    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "camera=()" in headers["Permissions-Policy"]


def test_pages_may_not_be_framed_nor_kept(client: Client) -> None:
    headers = client.get("/signin/").headers

    assert headers["X-Frame-Options"] == "DENY"
    assert "no-store" in headers["Cache-Control"]
