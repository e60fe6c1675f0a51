"""The certificate on a workflow's page, and its badge."""

import pytest
from django.test import Client
from django.urls import reverse

from runs.definition import registry
from runs.ledger import certificates
from runs.models import Certificate, Tenant
from runs.rules.policy import local_operator

pytestmark = pytest.mark.django_db

NAME = "inbox_triage"


@pytest.fixture(autouse=True)
def _a_tenant(db: None) -> None:
    Tenant.objects.get_or_create(slug="default")


def certify(*, tenant: str = "default") -> None:
    certificates.certify(local_operator("ada"), registry.latest(NAME), tenant=tenant)


def page(client: Client) -> str:
    return client.get(reverse("runs:workflow_show", args=[NAME])).text


def badge(client: Client, name: str = NAME) -> str:
    return client.get(reverse("runs:certificate", args=[name])).text


def test_nobody_has_asked_is_unknown_with_the_command(looking: Client) -> None:
    assert "Unknown is not green." in page(looking)
    assert "manage.py workflows certify inbox_triage" in page(looking)
    assert "certificate: not made" in badge(looking)


def test_the_ten_answers_stand_with_word_evidence_and_links(looking: Client) -> None:
    certify()

    shown = page(looking)

    assert shown.count('id="certificate-') == 10
    assert "4 of 10 pass" in shown
    assert "asked by ada" in shown
    assert 'href="#plan-purge"' in shown
    assert "run <code>manage.py drill inbox_triage</code>" in shown
    assert "Unknown is not green" not in shown


def test_a_changed_plan_lets_it_expire(looking: Client) -> None:
    certify()
    Certificate.objects.update(
        body=Certificate.objects.get().body.replace(Certificate.objects.get().plan_hash, "0" * 64)
    )

    shown = page(looking)

    assert "Expired: the plan has changed since." in shown
    assert "state-ok" not in shown.partition('id="certificate"')[2].partition("<details")[0]
    assert "certificate: expired" in badge(looking)


def test_changed_code_under_the_same_plan_is_a_warning(looking: Client) -> None:
    certify()
    kept = Certificate.objects.get()
    code = registry.latest(NAME).steps[0].key
    kept.body = kept.body.replace(f'"{code}":"', f'"{code}":"x', 1)
    kept.save()

    assert "The code of prepare has changed since" in page(looking)


def test_a_certificate_of_another_tenant_does_not_exist(looking: Client) -> None:
    Tenant.objects.get_or_create(slug="other")
    certify(tenant="other")

    assert "Unknown is not green." in page(looking)
    assert "certificate: not made" in badge(looking)


def test_the_badge_is_a_small_picture_with_its_words(looking: Client) -> None:
    certify()

    answer = looking.get(reverse("runs:certificate", args=[NAME]))

    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert 'role="img" aria-label="certificate: 4 of 10"' in answer.text
    assert len(answer.content) < 1500
    assert looking.get(reverse("runs:certificate", args=["nothing"])).status_code == 404


def test_a_stranger_sees_no_badge(client: Client) -> None:
    assert client.get(reverse("runs:certificate", args=[NAME])).status_code == 302
