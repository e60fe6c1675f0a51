"""Who there is: people with their roles, for those who administer them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from runs.models import AuditEvent, Tenant
from runs.queries.memberships import tenants_of
from runs.queries.people import people_of
from runs.rules import canonical
from runs.rules.people import NoSuchPerson
from runs.rules.policy import Actor
from runs.rules.roles import ADMINISTRATOR, BY_GROUP, ROLES, Role

LISTED = 500
PAYLOADS, ADMINISTER = "runs.view_payloads", "runs.administer"
TOLD = {
    "person.added": "added",
    "person.roles": "given roles",
    "person.reset": "reset: password and sessions void",
    "person.signed_out": "signed out everywhere",
    "person.deactivated": "deactivated",
    "person.let_in": "let in again",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person as a list shows them."""

    user: User
    roles: Sequence[Role]
    payloads: bool
    tenants: Sequence[str]
    everywhere: bool
    manageable: bool
    yourself: bool

    @property
    def state(self) -> str:
        return "active" if self.user.is_active else "deactivated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One thing that was done to a person."""

    at: datetime
    by: str
    says: str
    roles: Sequence[str]


def everybody(actor: Actor) -> list[Person]:
    """The people of the actor's tenants, the active ones first."""
    found = visible_people(actor).prefetch_related("groups", "user_permissions__content_type")
    return [_person(actor, user) for user in found.order_by("-is_active", "username")[:LISTED]]


def one(actor: Actor, person_id: int) -> Person:
    """Raises NoSuchPerson."""
    return _person(actor, visible_person(actor, person_id))


def visible_people(actor: Actor) -> QuerySet[User]:
    if may_manage_all(actor):
        return User.objects.all()
    anywhere = Q(pk__in=[])
    for tenant_id in sorted(actor.tenants or ()):
        anywhere |= people_of(tenant_id)
    return User.objects.filter(anywhere)


def visible_person(actor: Actor, person_id: int) -> User:
    found = visible_people(actor).filter(pk=person_id).first()
    if found is None:
        raise NoSuchPerson(f"There is no person {person_id}.")
    return found


def manageable(actor: Actor, person: User) -> bool:
    """Only who administers all of somebody's tenants: roles are the same in each of them."""
    if actor.tenants is None or may_manage_all(actor):
        return True
    return not person.is_superuser and tenants_of(person.pk) <= actor.tenants


def may_manage_all(actor: Actor) -> bool:
    """Whether this actor administers every tenant, those too that are made later."""
    if actor.user_id is None:
        return actor.tenants is None
    return User.objects.filter(pk=actor.user_id, is_active=True, is_superuser=True).exists()


def roles_of(person: User) -> set[str]:
    """The groups of roles that they have; who may do all, everywhere, is an administrator."""
    named = {group.name for group in person.groups.all()} & set(BY_GROUP)
    return named | {ADMINISTRATOR.group} if person.is_superuser else named


def may_do_all(person: User) -> bool:
    """Of every tenant, those too that are made later."""
    return person.is_superuser


def sees_payloads_by_right(person: User) -> bool:
    """By a permission of their own, whatever their roles bring along."""
    own = person.user_permissions.all()
    return any(f"{one.content_type.app_label}.{one.codename}" == PAYLOADS for one in own)


def administrators_left(tenant_id: int | None, *, without: User) -> bool:
    """Whether anybody else who is active administers this tenant; None means all of them."""
    others = User.objects.with_perm(ADMINISTER).exclude(pk=without.pk)
    if tenant_id is None:
        return others.filter(is_superuser=True).exists()
    return others.filter(people_of(tenant_id)).exists()


def is_taken(name: str) -> bool:
    return User.objects.filter(username__iexact=name).exists()


def _person(actor: Actor, user: User) -> Person:
    named, theirs = roles_of(user), tenants_of(user.pk)
    # Which tenants there are beside one's own is nobody's to know.
    seen = theirs if actor.tenants is None else theirs & actor.tenants
    return Person(
        user=user,
        roles=[role for role in ROLES if role.group in named],
        payloads=sees_payloads_by_right(user),
        tenants=list(Tenant.objects.filter(pk__in=seen).values_list("slug", flat=True)),
        everywhere=user.is_superuser,
        manageable=manageable(actor, user),
        yourself=user.pk == actor.user_id,
    )


def last_signed_out(person_id: int) -> int:
    """Which sign-out everywhere was the last; 0 before any. A link made before it is void."""
    rows = AuditEvent.objects.filter(run=None, kind="person.signed_out")
    rows = rows.filter(body__contains=_marked(person_id)).order_by("-pk")
    named = (row.pk for row in rows if canonical.loads(row.body).get("id") == person_id)
    return next(named, 0)


def _marked(person_id: int) -> str:
    """How the body of an act names the person; others whose number begins alike fit too."""
    return canonical.dumps({"id": person_id})[1:-1]


def acts_on(actor: Actor, person: Person) -> list[Act]:
    """What was done to somebody, the newest first, as the chains of the actor's tenants tell it."""
    rows = AuditEvent.objects.filter(run=None, kind__in=TOLD)
    if actor.tenants is not None:
        rows = rows.filter(tenant_id__in=sorted(actor.tenants))
    found: dict[tuple[datetime, str], Act] = {}
    for row in rows.filter(body__contains=_marked(person.user.pk)).order_by("-at", "-pk")[:100]:
        told = canonical.loads(row.body)
        if told.get("id") == person.user.pk:
            act = Act(at=row.at, by=row.actor, says=TOLD[row.kind], roles=told.get("groups", ()))
            found.setdefault((row.at, row.kind), act)
    return list(found.values())[:50]
