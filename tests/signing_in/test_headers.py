"""What every answer carries to keep a browser safe."""

from contextlib import closing
from typing import Any

import pytest
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from pytest_django import Settings

from config.logs import EventFormatter
from config.signin_links import first_user
from config.urls import handler500

pytestmark = pytest.mark.django_db


@login_not_required
def breaks(request: HttpRequest) -> HttpResponse:
    raise RuntimeError(f"{request.path} breaks on purpose")


urlpatterns: list[Any] = [path("breaks/", breaks)]
__all__ = ["handler500", "urlpatterns"]


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


def test_a_nul_is_looked_for_nowhere(client: Client) -> None:
    client.force_login(first_user())

    found = client.get("/find/?q=%00mine")
    there = client.get("/workflows/%00/")

    assert found.headers["Location"] == "/runs/?q=mine&started=all"
    assert there.status_code == 404


def test_what_breaks_names_itself_on_the_page_and_in_the_log(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ROOT_URLCONF = __name__

    answer = Client(raise_request_exception=False).get("/breaks/")

    name = answer.headers["X-Request-ID"]
    assert answer.status_code == 500
    assert f"request_id={name}" in answer.text
    assert any(f"request_id={name}" in EventFormatter().format(each) for each in caplog.records)
