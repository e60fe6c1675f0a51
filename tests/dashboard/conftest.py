"""What the tests of the pages share."""

import pytest
from django.test import Client

from tests.dashboard.builders import a_person


@pytest.fixture
def looking(client: Client, db: None) -> Client:
    """Somebody signed in who may look and nothing more."""
    client.force_login(a_person())
    return client


@pytest.fixture
def operating(client: Client, db: None) -> Client:
    """Somebody who may start runs and see what is in them."""
    client.force_login(a_person("omar", "operate", "view_payloads"))
    return client


@pytest.fixture(autouse=True)
def _nobody_is_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests do the work themselves, so no queue is told of it."""
    monkeypatch.setattr("runs.conf.ring", lambda assignment_id: None)
