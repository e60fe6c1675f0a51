"""Who a command acts as: a user that was named, else whoever runs it on this machine."""

import os
import pwd

from django.contrib.auth.models import User

from runs.queries.actors import actor_for
from runs.rules.policy import Actor, local_operator


class UnknownActor(Exception):
    """There is no active user of that name; `--as` takes one that exists."""


def actor_named(name: str | None) -> Actor:
    """`--as USER`, with no more rights than that user has on the pages."""
    if name is None:
        return local_operator(f"local operator {_account()}")
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise UnknownActor(f"There is no active user {name!r} to act as.")
    return actor_for(user)


def _account() -> str:
    """The account of the operating system, not what the environment says of it."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
