"""People are added, given roles, signed out, let in again; each act is on their tenants' chains."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.contrib.sessions.models import Session
from django.db import transaction

from runs.ledger import audit
from runs.ledger.commits import commits
from runs.models import Membership, Tenant
from runs.queries.clock import db_now
from runs.queries.directory import (
    administrators_left,
    is_taken,
    manageable,
    may_do_all,
    may_manage_all,
    roles_of,
    sees_payloads_by_right,
    visible_person,
)
from runs.queries.memberships import all_tenants, tenants_of
from runs.rules import canonical
from runs.rules.chain import Draft
from runs.rules.people import PersonRefused
from runs.rules.policy import Actor, Verb, may_see_tenant, require
from runs.rules.roles import ADMINISTRATOR, BY_GROUP

PAYLOADS = "view_payloads"


@commits("person_committed")
@transaction.atomic
def add(
    actor: Actor,
    *,
    name: str,
    email: str,
    tenant_id: int,
    groups: Collection[str],
    payloads: bool,
) -> User:
    """Somebody without a password: a sign-in link lets them in. Raises NotAllowed, PersonRefused."""
    require(actor, Verb.ADMINISTER)
    if not may_see_tenant(actor, tenant_id):
        raise PersonRefused("You administer no such tenant.")
    _lock([tenant_id])
    if is_taken(name):
        raise PersonRefused(f"There is somebody of the name “{name}” already; choose another one.")
    person = User(username=name, email=email)
    person.set_unusable_password()
    person.save()
    Membership.objects.create(tenant_id=tenant_id, user=person)
    _set_roles(person, groups, payloads=payloads)
    _tell(actor, person, "person.added", groups=sorted(groups), payloads=payloads)
    return person


@commits("person_committed")
@transaction.atomic
def give(
    actor: Actor,
    person_id: int,
    *,
    email: str,
    groups: Collection[str],
    payloads: bool,
    everywhere: bool | None = None,
) -> User:
    """Exactly these roles, from now on; `everywhere` of None leaves whether in all tenants as it is.

    Raises NotAllowed, NoSuchPerson, PersonRefused.
    """
    person = _held(actor, person_id)
    before, seen = sorted(roles_of(person)), sees_payloads_by_right(person)
    above = person.is_superuser if everywhere is None else everywhere
    above = above and ADMINISTRATOR.group in groups
    if above and not person.is_superuser and not may_manage_all(actor):
        raise PersonRefused("Only who administers all tenants may let somebody else do so.")
    if _loses(person, before, groups, above=above):
        _require_another(actor, person, to="take the role of administrator from")
    person.email, person.is_superuser = email, above
    person.save(update_fields=["email", "is_superuser"])
    _set_roles(person, groups, payloads=payloads)
    told: dict[str, Any] = {"groups": sorted(groups), "payloads": payloads, "everywhere": above}
    _tell(actor, person, "person.roles", **told, before=before, payloads_before=seen)
    return person


def _loses(person: User, before: Collection[str], groups: Collection[str], *, above: bool) -> bool:
    """Whether somebody administers less than before."""
    no_more = ADMINISTRATOR.group in before and ADMINISTRATOR.group not in groups
    return no_more or (person.is_superuser and not above)


@commits("person_committed")
@transaction.atomic
def reset(actor: Actor, person_id: int) -> User:
    """Their password and their sessions are void; a sign-in link lets them set another one."""
    person = _held(actor, person_id)
    if not person.is_active:
        raise PersonRefused(f"{person.username} is deactivated; let them in again first.")
    person.set_unusable_password()
    person.save(update_fields=["password"])
    _tell(actor, person, "person.reset", sessions=_end_sessions(person))
    return person


@commits("person_committed")
@transaction.atomic
def sign_out(actor: Actor, person_id: int) -> User:
    """Every session of theirs ends, on every device, and links that they have not followed are void."""
    person = _held(actor, person_id)
    _tell(actor, person, "person.signed_out", sessions=_end_sessions(person))
    return person


@commits("person_committed")
@transaction.atomic
def deactivate(actor: Actor, person_id: int) -> User:
    """They cannot sign in any more; what they did stays under their name."""
    person = _held(actor, person_id)
    if not person.is_active:
        raise PersonRefused(f"{person.username} is deactivated already.")
    if ADMINISTRATOR.group in roles_of(person) or person.pk == actor.user_id:
        _require_another(actor, person, to="deactivate")
    person.is_active = False
    person.save(update_fields=["is_active"])
    _tell(actor, person, "person.deactivated", sessions=_end_sessions(person))
    return person


@commits("person_committed")
@transaction.atomic
def let_in(actor: Actor, person_id: int) -> User:
    """Somebody who was deactivated may sign in again, by a link."""
    person = _held(actor, person_id)
    if person.is_active:
        raise PersonRefused(f"{person.username} is active already.")
    person.is_active = True
    person.set_unusable_password()
    person.save(update_fields=["is_active", "password"])
    _tell(actor, person, "person.let_in")
    return person


def _held(actor: Actor, person_id: int) -> User:
    """The person, their tenants locked: of two administrators who remove each other, one fails."""
    require(actor, Verb.ADMINISTER)
    seen = visible_person(actor, person_id)
    # Who administers all tenants is counted over all of them, so all of them are locked.
    _lock(all_tenants() if seen.is_superuser else tenants_of(seen.pk))
    person = visible_person(actor, person_id)
    if not manageable(actor, person):
        raise PersonRefused(
            f"{person.username} belongs to tenants that you do not administer; ask somebody who "
            "administers all of them."
        )
    return person


def _lock(tenant_ids: Collection[int]) -> None:
    """In the order of their ids; no transaction about a run waits for a tenant's row and holds one."""
    rows = Tenant.objects.select_for_update(no_key=True).filter(pk__in=sorted(tenant_ids))
    list(rows.order_by("pk"))


def _require_another(actor: Actor, person: User, *, to: str) -> None:
    if person.pk == actor.user_id:
        raise PersonRefused(f"Nobody may {to} themselves; ask another administrator.")
    for tenant_id in sorted(tenants_of(person.pk)):
        if not administrators_left(tenant_id, without=person):
            raise PersonRefused(
                f"{person.username} is the last administrator of this tenant; make somebody else "
                "one first."
            )
    if may_do_all(person) and not administrators_left(None, without=person):
        raise PersonRefused(
            f"{person.username} is the last administrator of all tenants; make somebody else one "
            "first."
        )


def _set_roles(person: User, groups: Collection[str], *, payloads: bool) -> None:
    """Groups that are no roles are left as they are."""
    roles = Group.objects.filter(name__in=BY_GROUP)
    person.groups.remove(*roles.exclude(name__in=groups))
    person.groups.add(*roles.filter(name__in=groups))
    right = Permission.objects.get(content_type__app_label="runs", codename=PAYLOADS)
    if payloads:
        person.user_permissions.add(right)
    else:
        person.user_permissions.remove(right)


def _end_sessions(person: User) -> int:
    """No index knows whose a session is, so each living one is read."""
    living = Session.objects.filter(expire_date__gt=db_now()).iterator(chunk_size=500)
    theirs = [
        session.pk
        for session in living
        if session.get_decoded().get("_auth_user_id") == str(person.pk)
    ]
    Session.objects.filter(pk__in=theirs).delete()
    return len(theirs)


def _tell(actor: Actor, person: User, kind: str, **told: Any) -> None:
    body = canonical.dumps({"person": person.username, "id": person.pk, **told})
    now = db_now()
    for tenant_id in sorted(tenants_of(person.pk)):
        audit.append_to_tenant(tenant_id, [Draft(kind=kind, body=body)], now=now, actor=actor.name)
