"""Events from outside as people see them: what came, who used it, what nobody used."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from runs.models import Event, EventKey
from runs.queries.keyset import Position, Slice, slice_of
from runs.queries.visibility import visible_to
from runs.rules import canonical, redaction
from runs.rules.payloads import Payload, payload_of
from runs.rules.policy import Actor

WHICH = ("used", "kept", "late")
PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which events a list is about; empty means any."""

    name: str = ""
    correlation_id: str = ""
    which: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An event and what became of it."""

    event: Event

    @property
    def which(self) -> str:
        if self.event.used_by_id is not None:
            return "used"
        return "late" if self.event.late_for_id is not None else "kept"

    @property
    def run(self) -> Any:
        """The run that used it, or that had waited for it."""
        wait = self.event.used_by or self.event.late_for
        return wait.run if wait is not None else None

    @property
    def step(self) -> str:
        wait = self.event.used_by or self.event.late_for
        return wait.step if wait is not None else ""

    @property
    def sentence(self) -> str:
        return f"{self._became}{self._again}"

    @property
    def _became(self) -> str:
        late = self.event.late_for
        if self.event.used_by is not None:
            after = ", after it had come too late at first" if late is not None else ""
            return f"Used by step {self.event.used_by.step} of {self.run.reference}{after}."
        if late is None:
            return "No run has waited for it so far; it is kept until one does."
        how = "had expired" if late.state == "expired" else f"was withdrawn ({self.run.state})"
        return (
            f"It came late: the wait of {self.run.reference} {how}. It is kept, and used if that run "
            "waits for it again."
        )

    @property
    def _again(self) -> str:
        said = ""
        if self.event.repeats:
            said += f" The same message came {self.event.repeats} more times and changed nothing."
        if self.event.conflicts:
            said += (
                f" Its message id came {self.event.conflicts} times with other content, refused."
            )
        return said

    def payload(self) -> Any:
        """Without secrets, for commands; the page shows it by `shown`."""
        return redaction.shown(canonical.loads(self.event.payload)).value

    def shown(self, *, visible: bool) -> Payload:
        return payload_of(self.event.payload, digest=self.event.payload_digest, visible=visible)

    def told(self) -> dict[str, Any]:
        """As commands print it."""
        event = self.event
        return {
            "id": event.pk,
            "name": event.name,
            "correlation_id": event.correlation_id,
            "message_id": event.message_id,
            "which": self.which,
            "run": str(self.run.pk) if self.run else None,
            "step": self.step or None,
            "source": event.source,
            "received_at": event.received_at.isoformat(),
            "used_at": event.used_at.isoformat() if event.used_at else None,
            "repeats": event.repeats,
            "conflicts": event.conflicts,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A sender's key, without its secret."""

    key: EventKey

    @property
    def events(self) -> list[str]:
        return list(canonical.loads(self.key.events))

    def told(self) -> dict[str, Any]:
        key = self.key
        return {
            "handle": key.handle,
            "name": key.name,
            "events": self.events,
            "created_by": key.created_by,
            "created_at": key.created_at.isoformat(),
            "last_used_at": key.last_used_at.isoformat() if key.last_used_at else None,
            "revoked_by": key.revoked_by,
            "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
        }


def wanted_events(actor: Actor, wanted: Wanted) -> QuerySet[Event]:
    """The events of the actor's tenants that are wanted."""
    rows = visible_to(actor, Event.objects.select_related("used_by__run", "late_for__run"))
    if wanted.name:
        rows = rows.filter(name=wanted.name)
    if wanted.correlation_id:
        rows = rows.filter(correlation_id=wanted.correlation_id)
    match wanted.which:
        case "used":
            rows = rows.filter(used_by__isnull=False)
        case "late":
            rows = rows.filter(used_by=None, late_for__isnull=False)
        case "kept":
            rows = rows.filter(used_by=None, late_for=None)
    return rows


def page_of(actor: Actor, wanted: Wanted, position: Position | None) -> Slice[Event]:
    return slice_of(wanted_events(actor, wanted), by="received_at", position=position, size=PAGE)


def newest(actor: Actor, wanted: Wanted, *, at_most: int) -> list[Row]:
    rows = wanted_events(actor, wanted).order_by("-received_at", "-id")[:at_most]
    return [Row(event=event) for event in rows]


def one(actor: Actor, event_id: int) -> Row | None:
    event = wanted_events(actor, Wanted()).filter(pk=event_id).first()
    return None if event is None else Row(event=event)


def keys_of(actor: Actor) -> list[Key]:
    """The living ones first, then those revoked last."""
    rows = visible_to(actor, EventKey.objects.all()).order_by("revoked_at", "-created_at")
    found = [Key(key=key) for key in rows[:200]]
    return sorted(found, key=lambda each: each.key.revoked_at is not None)
