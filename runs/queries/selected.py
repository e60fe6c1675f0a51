"""A selection as its page and its file show it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from runs.models import Selection
from runs.queries.pages_runs import rows_of
from runs.queries.preview import resume_preview
from runs.queries.selections import Foretold, foretold, items_of, said_of
from runs.rules import canonical, spreadsheet
from runs.rules.together import SelectionState, Together

# A dry run takes some queries of its own, so no more of them are made for one page.
PREVIEWED = 50
HEADS = (
    "run", "reference", "workflow", "version", "state", "step", "why", "labels",
    "created_at", "started_at", "ended_at", "outcome", "told",
)  # fmt: skip


def shown_of(selection: Selection) -> dict[str, Any]:
    """What would become of each while it is only chosen; afterwards what did."""
    given = canonical.loads(selection.given)
    if selection.state != SelectionState.CHOSEN:
        return {"items": items_of(selection), "given": given}
    rows = foretold(selection)
    moved = [row for row in rows if not row.refusal]
    previewed = moved[:PREVIEWED] if selection.verb == Together.RESUME else []
    return {
        "rows": rows,
        "said": said_of(rows),
        "moved": len(moved),
        "refused": len(rows) - len(moved),
        "fates": _fates(previewed),
        "previewed": len(previewed),
    }


def _fates(rows: Sequence[Foretold]) -> dict[str, int]:
    """How many steps have each fate in the dry runs of these."""
    found: Counter[str] = Counter()
    for row in rows:
        found.update(resume_preview(row.run).counts)
    return dict(found)


def as_csv(selection: Selection, *, now: datetime) -> str:
    return "".join(_lines(selection, now=now))


def _lines(selection: Selection, *, now: datetime) -> Iterator[str]:
    items = {item.run_id: item for item in items_of(selection)}
    yield spreadsheet.line(HEADS)
    for row in rows_of([item.run for item in items.values()], now=now):
        run, item = row.run, items[row.run.pk]
        times = [
            at.isoformat() if at else "" for at in (run.created_at, run.started_at, run.ended_at)
        ]
        labels = " ".join(f"{name}={value}" for name, value in sorted(run.labels.items()))
        own = [str(run.pk), run.reference, run.workflow, str(run.version), run.state, run.step]
        yield spreadsheet.line([*own, row.why.sentence, labels, *times, item.outcome, item.told])
