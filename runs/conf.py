"""The settings of the engine, read once into a frozen object."""

from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from importlib import import_module

from django.conf import settings
from django.utils.module_loading import import_string

from runs.rules.addresses import Network, networks_of
from runs.rules.claims import Pull

CHECKPOINT_SCHEMA = 1
CRASH_BUDGET = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Conf:
    """Durations are the engine's promises; `checks` proves that they fit together."""

    lease: timedelta
    renew_every: timedelta
    slice: timedelta
    ring_again_after: timedelta
    clock_offset: timedelta
    release: str
    beat_every: timedelta
    secret: str = field(repr=False)


@cache
def conf() -> Conf:
    lease = timedelta(seconds=getattr(settings, "LEASE_SECONDS", 15))
    return Conf(
        lease=lease,
        renew_every=lease / 3,
        slice=timedelta(seconds=25),
        ring_again_after=timedelta(seconds=2),
        clock_offset=timedelta(seconds=getattr(settings, "CLOCK_OFFSET_SECONDS", 0)),
        release=getattr(settings, "RELEASE", ""),
        beat_every=timedelta(seconds=getattr(settings, "BEAT_SECONDS", 0)),
        secret=settings.SECRET_KEY,
    )


def site() -> str:
    """Where the pages answer, without a slash at the end; for whoever is told of them elsewhere."""
    told = getattr(settings, "SITE_URL", "") or import_string(settings.RUNS_SITE)()
    return str(told).rstrip("/")


def channel_networks() -> tuple[Network, ...]:
    """Networks that channels may reach though they are not public."""
    return networks_of(getattr(settings, "CHANNEL_NETWORKS", ()))


def channel_schemes() -> tuple[str, ...]:
    """The services of apprise that a channel may use."""
    return tuple(name.lower() for name in getattr(settings, "CHANNEL_SCHEMES", ()))


def sealing_keys() -> list[str]:
    """What secrets are sealed under: the first one seals, any of them opens."""
    return [settings.SECRET_KEY, *map(str, settings.SECRET_KEY_FALLBACKS)]


def ring(assignment_id: int) -> None:
    """Ring the doorbell named in settings; `ledger` may not know the queue, so it is a path."""
    import_module(settings.RUNS_DOORBELL).ring(assignment_id)


def pull() -> Pull | None:
    """How a statement rings the same doorbell by itself, where it can."""
    pulled: Pull | None = import_module(settings.RUNS_DOORBELL).pull()
    return pulled


def mail_leaves() -> bool:
    """Whether mail is sent at all; where nobody has said how, it is written to files."""
    return "filebased" not in settings.EMAIL_BACKEND
