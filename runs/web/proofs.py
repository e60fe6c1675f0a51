"""When who sits at the browser last proved who they are, and how they do it once more."""

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import logout
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest

from runs.queries.clock import db_now

SIGNED_IN_AT, FAILED = "signed_in_at", "proofs_failed"
MOST_FAILED = 5


def stamp(*, request: HttpRequest, user: AbstractBaseUser, **_more: Any) -> None:
    """Somebody has signed in."""
    request.session[SIGNED_IN_AT] = db_now().isoformat()
    request.session.pop(FAILED, None)


def signed_in_at(request: HttpRequest) -> datetime:
    """A session that does not say so is an old one."""
    said = request.session.get(SIGNED_IN_AT)
    return datetime.fromisoformat(said) if said else datetime.min.replace(tzinfo=UTC)


def prove(request: HttpRequest, password: str) -> bool:
    """Whether this is their password, which counts as signing in; five wrong ones sign out."""
    user = request.user
    if user.is_authenticated and user.check_password(password):
        stamp(request=request, user=user)
        request._milepost_actor = None  # type: ignore[attr-defined]
        return True
    failed = int(request.session.get(FAILED, 0)) + 1
    if failed >= MOST_FAILED:
        logout(request)
    else:
        request.session[FAILED] = failed
    return False
