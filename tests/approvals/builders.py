"""People who may answer, and runs that wait for them."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group, Permission, User

from approvals.ledger import deciding
from approvals.ledger.deciding import Decided, Door
from approvals.models import Decision
from runs.ledger import lifecycle
from runs.models import Membership, Tenant
from runs.queries.memberships import tenants_of
from runs.rules.policy import Actor
from tests.support import runs

COMMENT = "I have looked at each of them."
BY_TEST = Door(name="test")


def a_person(
    name: str = "mara",
    *,
    groups: Iterable[str] = ("approvers",),
    permissions: Iterable[str] = ("decide", "view_payloads"),
    tenant: str = "",
    email: str = "",
) -> User:
    """Somebody who may answer, unless told otherwise."""
    runs.the_tenant()
    person = User.objects.create_user(name, email=email)
    person.user_permissions.set(Permission.objects.filter(codename__in=list(permissions)))
    person.groups.set([Group.objects.get_or_create(name=group)[0] for group in groups])
    # What is named is all that they may do, whatever the groups of roles bring along.
    Group.permissions.through.objects.filter(group__name__in=list(groups)).delete()
    if tenant:
        Membership.objects.create(tenant=runs.the_tenant(tenant), user=person)
    return person


def acting(person: User) -> Actor:
    return Actor(
        kind="user",
        name=person.username,
        user_id=person.pk,
        tenants=tenants_of(person.pk),
        permissions=frozenset(name.partition(".")[2] for name in person.get_all_permissions()),
        groups=frozenset(person.groups.values_list("name", flat=True)),
        administrator=person.is_superuser,
    )


def a_decision(workflow: str = "payments", *, tenant: str = "default", **given: Any) -> Decision:
    """What a run of this workflow asks, once it has come to its decision."""
    run_id = runs.a_run(workflow, given, tenant=tenant)
    runs.drain()
    return asked_by(run_id)


def asked_by(run_id: UUID) -> Decision:
    return Decision.objects.get(run_id=run_id, state="open")


def again(decision: Decision) -> Decision:
    return Decision.objects.select_related("run", "wait").get(pk=decision.pk)


def decide(actor: Actor, decision: Decision, option: str = "approve", **more: Any) -> Decided:
    """Answer as somebody does who has just read the page."""
    shown: dict[str, Any] = {
        "fields": {},
        "comment": COMMENT,
        "shown_digest": again(decision).digest,
        "confirm": str(decision.run_id)[-6:],
        "through": BY_TEST,
    }
    return deciding.decide(actor, decision.pk, option=option, **(shown | more))


def cancel(decision: Decision) -> None:
    lifecycle.cancel(runs.the_operator(), decision.run_id, because="Not wanted any more.")


def tenants() -> dict[str, int]:
    return dict(Tenant.objects.values_list("slug", "pk"))
