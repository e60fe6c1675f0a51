"""What people have noted on a run, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runs.models import Note, Run
from runs.rules.policy import Actor

MOST, LATELY = 100, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A note; of one that is withdrawn nothing but that."""

    note: Note
    mine: bool

    @property
    def text(self) -> str:
        return "" if self.note.withdrawn_at else self.note.text

    def told(self) -> dict[str, Any]:
        """As commands print it."""
        withdrawn = self.note.withdrawn_at
        return {
            "id": self.note.pk,
            "by": self.note.by,
            "at": self.note.at.isoformat(),
            "text": self.text,
            "withdrawn_at": withdrawn.isoformat() if withdrawn else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The newest of them, and those before."""

    all: Sequence[Noted]

    @property
    def lately(self) -> Sequence[Noted]:
        return self.all[:LATELY]

    @property
    def earlier(self) -> Sequence[Noted]:
        return self.all[LATELY:]


def notes_on(run: Run, actor: Actor) -> Notes:
    rows = Note.objects.filter(run=run).order_by("-id")[:MOST]
    return Notes(all=[Noted(note=note, mine=_may_withdraw(note, actor)) for note in rows])


def _may_withdraw(note: Note, actor: Actor) -> bool:
    return note.withdrawn_at is None and note.by == actor.name
