"""Who may do what: the one answer that every page, command and link asks for."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

FRESH = timedelta(minutes=15)


class Verb(StrEnum):
    """What a person may be allowed to do beyond looking."""

    OPERATE = "operate"
    DECIDE = "decide"
    VIEW_PAYLOADS = "view_payloads"
    ADMINISTER = "administer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who is acting. `tenants` of None means all of them; `name` is what the audit says.

    An administrator may do everything, in these tenants. `signed_in_at` is when who came by a page
    last proved who they are; a command is run by an account of the machine, which has done so.
    """

    kind: Literal["user", "operator", "system"]
    name: str
    user_id: int | None = None
    tenants: frozenset[int] | None = frozenset()
    permissions: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    administrator: bool = False
    signed_in_at: datetime | None = None


class SignInTooOld(ValueError):
    """What cannot be undone takes a sign-in of the last 15 minutes; sign in again, then do it."""


class NotAllowed(Exception):
    """This actor lacks the permission the act needs; ask somebody who has it."""

    def __init__(self, actor: Actor, verb: Verb | str) -> None:
        super().__init__(
            f"{actor.name} lacks the permission “{verb}”. Ask an administrator for it."
        )
        self.verb = str(verb)


def system(name: str) -> Actor:
    """The engine acting by itself, under the name of the duty it performs."""
    return Actor(kind="system", name=name, tenants=None, permissions=frozenset(Verb))


def local_operator(name: str) -> Actor:
    """Whoever runs a command on the machine itself; the audit names the account."""
    return Actor(
        kind="operator", name=name, tenants=None, permissions=frozenset(Verb), administrator=True
    )


def may(actor: Actor, verb: Verb | str) -> bool:
    return actor.administrator or str(verb) in actor.permissions


def require(actor: Actor, verb: Verb | str) -> None:
    if not may(actor, verb):
        raise NotAllowed(actor, verb)


def is_fresh(actor: Actor, *, now: datetime) -> bool:
    """Whether who is at the page has proved lately who they are."""
    return actor.signed_in_at is None or now - actor.signed_in_at <= FRESH


def require_fresh(actor: Actor, *, now: datetime) -> None:
    if not is_fresh(actor, now=now):
        raise SignInTooOld(
            "What cannot be undone takes a sign-in of the last 15 minutes. Sign in again first."
        )


def may_see_tenant(actor: Actor, tenant_id: int) -> bool:
    return actor.tenants is None or tenant_id in actor.tenants


def in_any_group(actor: Actor, groups: frozenset[str]) -> bool:
    """No group named means everybody who may decide; administrators belong to every group."""
    return not groups or actor.administrator or bool(actor.groups & groups)
