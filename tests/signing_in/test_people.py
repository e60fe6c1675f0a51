"""People are added, given roles, signed out and let in again by administrators, and the chain says so."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.signin_links import first_user, link_for
from runs.ledger import people
from runs.models import AuditEvent, Membership, Tenant
from runs.queries.actors import actor_for
from runs.queries.verify import violations
from runs.rules import canonical
from runs.rules.policy import Verb, may

pytestmark = pytest.mark.django_db


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def a_person(name: str, *groups: str, tenant: str = "default") -> User:
    person = User.objects.create_user(name)
    person.groups.set(Group.objects.filter(name__in=groups))
    owner, _ = Tenant.objects.get_or_create(slug=tenant)
    Membership.objects.create(tenant=owner, user=person)
    return person


@pytest.fixture
def boss() -> Client:
    return signed_in(first_user())


def of(person: User, more: str = "") -> str:
    return f"/people/{person.pk}/{more}"


def filled(**said: Any) -> dict[str, Any]:
    default = Tenant.objects.get(slug="default").pk
    return {"name": "pia", "email": "pia@example.org", "tenant": default} | said


def last_act() -> AuditEvent:
    return AuditEvent.objects.filter(run=None).latest("pk")


def test_somebody_who_is_added_comes_in_by_the_link_that_is_shown_once(boss: Client) -> None:
    answer = boss.post("/people/", filled(groups=["operators"]))

    link = re.search(r"http://testserver(/signin/[^\"<]+/)", answer.text)
    pia = User.objects.get(username="pia")
    assert answer.status_code == 201
    assert link is not None
    assert Client().post(link[1]).headers["Location"] == "/password/"
    assert link[1] not in boss.get("/people/").text
    assert {verb for verb in Verb if may(actor_for(pia), verb)} == {Verb.OPERATE}
    assert (last_act().kind, last_act().actor) == ("person.added", "operator")
    assert violations([]) == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"name": "OPERATOR", "groups": ["viewers"]}, "somebody of the name"),
        ({"name": "a b", "groups": ["viewers"]}, "valid username"),
        ({}, "at least one role"),
        ({"groups": ["kings"]}, "not one of the available choices"),
    ],
)
def test_what_cannot_be_added_is_said_beside_the_form(
    boss: Client, said: dict[str, Any], expected: str
) -> None:
    answer = boss.post("/people/", filled(**said))

    assert answer.status_code == 422
    assert expected in answer.text
    assert User.objects.count() == 1


def test_roles_are_exactly_those_that_are_ticked(boss: Client) -> None:
    pia = a_person("pia", "operators", "approvers")

    boss.post(of(pia), {"groups": ["viewers"], "payloads": "on", "email": "p@example.org"})

    pia = User.objects.get(pk=pia.pk)
    told = canonical.loads(last_act().body)
    assert {verb for verb in Verb if may(actor_for(pia), verb)} == {Verb.VIEW_PAYLOADS}
    assert pia.email == "p@example.org"
    assert (told["before"], told["groups"]) == (["approvers", "operators"], ["viewers"])


def test_a_reset_voids_password_and_sessions_and_makes_a_link(boss: Client) -> None:
    pia = a_person("pia", "viewers")
    pia.set_password("a long enough secret")
    pia.save()
    hers = signed_in(pia)

    answer = boss.post(of(pia, "resets/"))

    assert "/signin/" in answer.text
    assert not User.objects.get(pk=pia.pk).has_usable_password()
    assert hers.get("/").status_code == 302


def test_signing_out_everywhere_ends_every_session_and_leaves_the_password(boss: Client) -> None:
    pia = a_person("pia", "viewers")
    pia.set_password("a long enough secret")
    pia.save()
    one, two = signed_in(pia), signed_in(pia)

    boss.post(of(pia, "sign-outs/"))

    assert [client.get("/").status_code for client in (one, two, boss)] == [302, 302, 200]
    assert Client().login(username="pia", password="a long enough secret")
    assert canonical.loads(last_act().body)["sessions"] == 2


def test_signing_out_everywhere_voids_links_that_were_not_followed_yet(boss: Client) -> None:
    pia = a_person("pia", "viewers")
    pia.set_password("a long enough secret")
    pia.save()
    before = link_for(pia, site="")

    boss.post(of(pia, "sign-outs/"))

    assert Client().post(before).status_code == 410
    assert Client().post(link_for(pia, site="")).status_code == 302


def test_who_is_deactivated_is_out_until_let_in_again(boss: Client) -> None:
    pia = a_person("pia", "viewers")
    hers = signed_in(pia)

    boss.post(of(pia, "deactivations/"))
    out = hers.get("/").status_code
    boss.post(of(pia, "returns/"))

    assert out == 302
    assert User.objects.get(pk=pia.pk).is_active
    assert "Let in again" in boss.get(of(pia)).text


ACTS = {
    "deactivate": ("deactivations/", {}),
    "take the role": ("", {"groups": ["viewers"]}),
}


@pytest.mark.parametrize("act", ACTS)
def test_nobody_does_away_with_themselves(act: str) -> None:
    a_person("another", "administrators")
    ada = a_person("ada", "administrators")
    more, said = ACTS[act]

    answer = signed_in(ada).post(of(ada, more), said)

    assert "themselves" in answer.text
    assert may(actor_for(User.objects.get(pk=ada.pk)), Verb.ADMINISTER)


@pytest.mark.parametrize("act", ACTS)
def test_the_last_administrator_stays(act: str) -> None:
    """Even somebody above all tenants leaves each tenant, and all of them, one."""
    boss = first_user()
    ada = a_person("ada", "administrators")
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    more, said = ACTS[act]
    User.objects.filter(pk=boss.pk).update(is_superuser=False)
    boss.groups.add(Group.objects.get(name="administrators"))

    answer = signed_in(boss).post(of(ada, more), said)

    assert answer.status_code in (409, 422)
    assert User.objects.get(pk=ada.pk).is_superuser


def test_an_administrator_of_one_tenant_knows_nobody_of_another() -> None:
    ada, tom = a_person("ada", "administrators"), a_person("tom", "viewers", tenant="elsewhere")
    hers = signed_in(ada)

    answers = [hers.get(of(tom)), hers.post(of(tom)), hers.post(of(tom, "resets/"))]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert of(tom) not in hers.get("/people/").text


def test_of_somebodys_tenants_only_ones_own_are_named() -> None:
    ada, tom = a_person("ada", "administrators"), a_person("tom", "viewers")
    Membership.objects.create(tenant=Tenant.objects.create(slug="elsewhere"), user=tom)

    pages = [signed_in(ada).get(address).text for address in ("/people/", of(tom))]

    assert ["elsewhere" in page for page in pages] == [False, False]


def test_whoever_administers_all_tenants_is_changed_under_the_lock_of_all() -> None:
    """Else two of them, of different tenants, could do away with each other at once."""
    boss = first_user()
    ada = a_person("ada", "administrators", tenant="elsewhere")
    User.objects.filter(pk=ada.pk).update(is_superuser=True)

    with CaptureQueriesContext(connection) as asked:
        people.sign_out(actor_for(boss), ada.pk)

    locking = [one["sql"] for one in asked if '"runs_tenant"."id" IN' in one["sql"]]
    wanted = ", ".join(str(pk) for pk in Tenant.objects.order_by("pk").values_list("pk", flat=True))
    assert f"IN ({wanted})" in locking[0]


def test_whoever_is_in_another_tenant_too_is_changed_by_who_administers_both() -> None:
    ada, tom = a_person("ada", "administrators"), a_person("tom", "viewers")
    elsewhere = Tenant.objects.create(slug="elsewhere")
    Membership.objects.create(tenant=elsewhere, user=tom)

    answer = signed_in(ada).post(of(tom), {"groups": ["administrators"]})

    assert "do not administer" in answer.text
    assert not may(actor_for(User.objects.get(pk=tom.pk)), Verb.ADMINISTER)


def test_an_administrator_of_one_tenant_raises_nobody_above_all() -> None:
    ada, pia = a_person("ada", "administrators"), a_person("pia", "viewers")

    signed_in(ada).post(of(pia), {"groups": ["administrators"], "everywhere": "on"})

    assert not User.objects.get(pk=pia.pk).is_superuser


@pytest.mark.parametrize("group", ["viewers", "operators", "approvers"])
def test_only_administrators_have_these_pages(group: str) -> None:
    pia = a_person("pia", group)
    hers = signed_in(pia)

    assert hers.get("/people/").status_code == 403
    assert hers.post(of(pia), {"groups": ["administrators"]}).status_code == 403
    assert "/people/" not in hers.get("/").text
