"""What everybody may see: badges behind a signed address, and the monitors of a status page."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from django.conf import settings
from django.db.models import QuerySet

from monitors.models import Monitor, PingKey, StatusPage
from monitors.queries.windows import maintained_until
from monitors.rules.badges import EVERY_TAG, Badge, badge_of, signature
from monitors.rules.states import MonitorKind
from runs.queries.visibility import visible_to
from runs.rules.policy import Actor

MOST_SHOWN = 200
KINDS = ("svg", "json", "shields")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A monitor as strangers see it: no address, no note, no body."""

    name: str
    state: str
    since: datetime
    maintained_until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusShown:
    """A published page; `sentence` says first how it stands."""

    title: str
    state: str
    sentence: str
    monitors: Sequence[Shown]
    as_of: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BadgeAddress:
    """Where the badge of a tag is, without what it is called by."""

    tag: str
    path: str

    @property
    def paths(self) -> dict[str, str]:
        return {kind: f"{self.path}.{kind}" for kind in KINDS}


def badge(page_slug: str, signed: str, tag: str, *, now: datetime) -> Badge | None:
    """None where the signature is not that of this tag, or of a round that is over."""
    page = StatusPage.objects.filter(slug=page_slug).first()
    if page is None or not _is_signed(page, signed, tag, now=now):
        return None
    rows = _outside(page.tenant_id).values_list("state", "tags")
    states = [state for state, tags in rows if tag == EVERY_TAG or tag in tags.split()]
    return badge_of(states, label=tag or page.title)


def _is_signed(page: StatusPage, signed: str, tag: str, *, now: datetime) -> bool:
    rounds = [page.badge_round]
    if page.badges_until is not None and page.badges_until > now:
        rounds.append(page.badge_round - 1)
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    known = [
        signature(str(secret), tenant_id=page.tenant_id, tag=tag, round_=each)
        for secret in secrets
        for each in rounds
    ]
    return any(hmac.compare_digest(signed.encode(), each.encode()) for each in known)


def badge_addresses(page: StatusPage) -> list[BadgeAddress]:
    """Of all monitors together, then of each tag in use."""
    tags = {tag for tags in _outside(page.tenant_id).values_list("tags") for tag in tags[0].split()}
    return [_address(page, tag) for tag in (EVERY_TAG, *sorted(tags))]


def _address(page: StatusPage, tag: str) -> BadgeAddress:
    signed = signature(
        settings.SECRET_KEY, tenant_id=page.tenant_id, tag=tag, round_=page.badge_round
    )
    return BadgeAddress(
        tag=tag, path=f"/badge/{page.slug}/{signed}" + (f"/{quote(tag)}" if tag else "")
    )


def status_page(slug: str, *, now: datetime) -> StatusShown | None:
    """Only what was chosen to be public, of a page that was published."""
    page = StatusPage.objects.filter(slug=slug, published=True).first()
    if page is None:
        return None
    rows = Monitor.objects.filter(tenant_id=page.tenant_id, removed_at=None, public=True)
    monitors = list(rows.order_by("name", "pk")[:MOST_SHOWN])
    maintained = maintained_until(monitors, now=now)
    together = badge_of((monitor.state for monitor in monitors), label=page.title)
    return StatusShown(
        title=page.title,
        state=together.state.value,
        sentence=_sentence(together),
        monitors=[
            Shown(
                name=monitor.name or "unnamed",
                state=monitor.state,
                since=monitor.state_since,
                maintained_until=maintained.get(monitor.pk),
            )
            for monitor in monitors
        ],
        as_of=now,
    )


def _sentence(together: Badge) -> str:
    if not together.total:
        return "Nothing is shown here yet."
    if together.down:
        return f"{together.down} of {together.total} {_are(together.down)} down."
    if together.late:
        return f"{together.late} of {together.total} {_are(together.late)} late."
    if together.state.value == "up":
        return "Everything that is watched here is up."
    return "Nothing has been heard of what is shown here."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def page_of(tenant_id: int) -> StatusPage | None:
    return StatusPage.objects.filter(tenant_id=tenant_id).first()


def public_monitors(actor: Actor, tenant_id: int) -> int:
    rows = Monitor.objects.filter(tenant_id=tenant_id, removed_at=None, public=True)
    return visible_to(actor, rows).count()


def living_keys(actor: Actor, tenant_id: int, *, now: datetime) -> Sequence[PingKey]:
    """The newest first; of each its beginning, for the key itself is nowhere."""
    keys = visible_to(actor, PingKey.objects.filter(tenant_id=tenant_id)).order_by("-pk")
    return [key for key in keys[:50] if key.expires_at is None or key.expires_at > now]


def _outside(tenant_id: int) -> QuerySet[Monitor]:
    """Those that people made: what Milepost watches of its own is nobody's badge."""
    kind = MonitorKind.OUTSIDE.value
    return Monitor.objects.filter(tenant_id=tenant_id, removed_at=None, kind=kind)


def has_key(actor: Actor, key_id: int) -> bool:
    """Whether it is a key of the actor's tenants, ended or not."""
    return visible_to(actor, PingKey.objects.filter(pk=key_id)).exists()
