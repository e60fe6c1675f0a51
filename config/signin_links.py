"""Links that sign one person in once, within the hour."""

from datetime import datetime

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from runs.queries.directory import last_signed_out

FIRST_USER = "operator"


class NobodyToSignIn(Exception):
    """There is no active user of that name; the message says who there is."""


class LinkIsVoid(Exception):
    """The link was used, is older than an hour, or was never ours; print another one."""


class _Tokens(PasswordResetTokenGenerator):
    key_salt = "config.signin_links"

    def _make_hash_value(self, user: AbstractBaseUser, timestamp: int) -> str:
        # Every sign-in moves last_login, so the link that did it is void, to the microsecond; so
        # are those made before somebody was signed out everywhere.
        seen: datetime | None = user.last_login
        out = last_signed_out(user.pk)
        return (
            f"{user.pk} {user.password} {user.is_active} {seen and seen.timestamp()!r} {out} "
            f"{timestamp}"
        )


tokens = _Tokens()


def first_user() -> User:
    """The one person of a fresh installation: no password, so only a link lets them in."""
    if User.objects.exists():
        return known_user(None)
    user = User(username=FIRST_USER, is_superuser=True, is_staff=True)
    user.set_unusable_password()
    user.save()
    return user


def known_user(name: str | None) -> User:
    """The active user of that name; without a name the first administrator."""
    active = User.objects.filter(is_active=True)
    chosen = active.filter(username=name) if name else active.filter(is_superuser=True)
    user = chosen.order_by("pk").first()
    if user is None:
        there = ", ".join(active.order_by("pk").values_list("username", flat=True)[:20])
        raise NobodyToSignIn(
            f"No active user {name or 'is an administrator'}; there is: {there or 'nobody'}."
        )
    return user


def link_for(user: User, *, site: str) -> str:
    who = urlsafe_base64_encode(str(user.pk).encode())
    return site + reverse("signin-link", args=[who, tokens.make_token(user)])


def holder_of(who: str, token: str) -> User:
    """Whom the link would sign in; looking does not use it up."""
    return _holder(who, token, User.objects.all())


def redeem(who: str, token: str, *, now: datetime) -> User:
    """Uses the link up: of two who follow it at once, one gets in."""
    with transaction.atomic():
        user = _holder(who, token, User.objects.select_for_update())
        user.last_login = now
        user.save(update_fields=["last_login"])
    return user


def _holder(who: str, token: str, users: QuerySet[User]) -> User:
    try:
        user = users.get(pk=int(urlsafe_base64_decode(who)), is_active=True)
    except (ValueError, OverflowError, User.DoesNotExist):
        raise LinkIsVoid from None
    if not tokens.check_token(user, token):
        raise LinkIsVoid
    return user
