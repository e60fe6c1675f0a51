"""Who, besides whoever started a run, has made it what it is: by name, with what they did."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from runs.models import AuditEvent, Run

DID = {
    "run.input_corrected": "corrected the input of {run}",
    "run.replayed": "replayed {run}",
    "run.version_changed": "took {run} to another version",
    "step.skipped": "passed over a step of {run}",
}
# Whoever takes runs along to a newer version unasked is nobody who could agree to anything.
NOBODY = ("", "versions")
THIS, BEFORE = "this run", "the run before this one"
MOST_BEFORE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """`did` completes a sentence that begins with the name: “asked for this run”."""

    name: str
    did: str


def starter_of(run: Run) -> Requester:
    by_hand = run.restart_of_id is not None and not run.automatic_restarts
    return Requester(
        name=run.started_by, did="restarted this run" if by_hand else f"asked for {THIS}"
    )


def requesters_of(run: Run) -> list[Requester]:
    """All but its starter; a run that took another one's place has that one's requesters too."""
    did: dict[str, list[str]] = {}
    for name, what in _told(run):
        if name != run.started_by and name not in NOBODY and what not in did.setdefault(name, []):
            did[name].append(what)
    return [Requester(name=name, did=" and ".join(found)) for name, found in did.items()]


def _told(run: Run) -> Iterator[tuple[str, str]]:
    before = dict(_before(run))
    rows = AuditEvent.objects.filter(run_id__in=[run.pk, *before], kind__in=list(DID))
    for run_id, kind, name in rows.order_by("pk").values_list("run_id", "kind", "actor"):
        yield name, DID[kind].format(run=THIS if run_id == run.pk else BEFORE)
    for name in before.values():
        yield name, f"asked for {BEFORE}"


def _before(run: Run) -> Iterator[tuple[UUID, str]]:
    """The runs whose place it took, and who had started each."""
    earlier = run.restart_of_id
    for _ in range(MOST_BEFORE):
        if earlier is None:
            return
        row = Run.objects.only("started_by", "restart_of").get(pk=earlier)
        yield row.pk, row.started_by
        earlier = row.restart_of_id
