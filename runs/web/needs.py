"""What needs a person now: apps register what they know of, the first page puts it in one order."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from runs.rules import canonical
from runs.rules.looks import Family
from runs.rules.policy import Actor

SHOWN = 50
HOME = "home"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that stands still, or goes wrong, until somebody acts.

    `key` is unique in the page; `glyph` is a shape of static/img/glyphs.svg; `action` is the word
    of the one link; `about` is the thing's own name, linked to `about_url`. What is not `yours` is
    shown apart: somebody else has to act.
    """

    key: str
    family: Family
    glyph: str
    sentence: str
    url: str
    action: str
    since: datetime
    workflow: str = ""
    deadline: datetime | None = None
    owner: str = ""
    about: str = ""
    about_url: str = ""
    yours: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What was found, in its order, and the sources that could not be asked."""

    yours: Sequence[Need]
    others: Sequence[Need]
    unasked: Sequence[str]

    @property
    def version(self) -> str:
        found = [*self.yours, *self.others]
        said = "".join(f"{need.key}{need.since}{need.deadline}{need.owner}" for need in found)
        return canonical.digest(said + "".join(self.unasked))[:16]


Source = Callable[[Actor], Sequence[Need]]
Count = Callable[[Actor], int]
_sources: dict[str, Source] = {}
_counts: dict[str, tuple[str, Count]] = {}
_places: dict[str, Count] = {}


def register(name: str, source: Source, *, count: Count | None = None, place: str = "") -> None:
    """Called from AppConfig.ready; a source reads a bounded number of rows and writes nothing.

    `name` completes the sentence "could not load ...": “decisions”, “failed runs”. `count` says on
    every page how many are the actor's own, in one cheap query; `place` is the view that lists them.
    """
    _sources[name] = source
    if count is not None:
        _counts[name] = (place, count)


def register_place(place: str, count: Count) -> None:
    """What is counted at a place of the bar, but is nobody's to do."""
    _places[place] = count


def waiting(actor: Actor) -> dict[str, int]:
    """How many things are this actor's to do, by the place that lists them; `home` has them all."""
    found = {HOME: 0} | {place: _counted(place, count, actor) for place, count in _places.items()}
    for name, (place, count) in _counts.items():
        amount = _counted(name, count, actor)
        found[HOME] += amount
        found[place] = found.get(place, 0) + amount
    return found


def _counted(name: str, count: Count, actor: Actor) -> int:
    try:
        return count(actor)
    except Exception:
        log.exception("needs.count_failed", extra={"source": name})
        return 0


def needs(actor: Actor) -> Needs:
    """By the cost of delay: what has a deadline comes first, then what has waited longest."""
    found: list[Need] = []
    unasked: list[str] = []
    for name, source in _sources.items():
        try:
            found += source(actor)
        except Exception:
            log.exception("needs.source_failed", extra={"source": name})
            unasked.append(name)
    found.sort(key=_cost_of_delay)
    return Needs(
        yours=[need for need in found if need.yours][:SHOWN],
        others=[need for need in found if not need.yours][:SHOWN],
        unasked=unasked,
    )


def _cost_of_delay(need: Need) -> tuple[bool, datetime, str]:
    return need.deadline is None, need.deadline or need.since, need.key
