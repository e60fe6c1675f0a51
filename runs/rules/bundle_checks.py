"""Whether what a bundle says of a run holds together: chain, digests, plan, results, requests."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from runs.rules import canonical
from runs.rules.bundle import Bundle, Unreadable, container_faults, opened
from runs.rules.chain import fault_of
from runs.rules.plan import Plan

Check = Callable[[Bundle], Iterable[str]]
MOST = 20
# What the closing line of the chain says of each table (see runs/queries/audit_line.py).
LINE_PARTS = {"steps": "steps.jsonl", "calls": "calls.jsonl", "waits": "waits.jsonl"}
LINE_FIELDS = {
    "state": "state",
    "reference": "reference",
    "workflow": "workflow",
    "version": "version",
    "plan_hash": "plan_id",
}
_of_other_apps: list[Check] = []
_notes: list[Check] = []


def register(check: Check) -> None:
    """Let another app check the parts that it has put into bundles."""
    if check not in _of_other_apps:
        _of_other_apps.append(check)


def register_note(check: Check) -> None:
    """Let another app say what a bundle that has no fault cannot show."""
    if check not in _notes:
        _notes.append(check)


def notes_of(path: Path) -> list[str]:
    """What a bundle without faults does not show, in sentences; older ones show less. Raises Unreadable."""
    bundle = opened(path)
    try:
        return [said for check in _notes for said in check(bundle)]
    finally:
        bundle.file.close()


def faults_of(path: Path, *, head: str = "") -> list[str]:
    """Each place where the bundle is not what was exported, none when it is; needs no database.

    Whoever makes a whole forgery can make its digests too: `head` is the chain's head as it is
    known from elsewhere.
    """
    try:
        bundle = opened(path)
    except Unreadable as unreadable:
        return [str(unreadable)]
    try:
        found = list(container_faults(bundle))
        # What was damaged on its way is named by its place; what follows from it would only hide it.
        return found or list(_content_faults(bundle, head))
    except Unreadable as unreadable:
        return [str(unreadable)]
    finally:
        bundle.file.close()


def _content_faults(bundle: Bundle, head: str) -> Iterator[str]:
    for check in (chain_holds, digests_hold, line_equals_parts, files_are_whole, *_of_other_apps):
        try:
            found = list(check(bundle))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            found = [f"{check.__name__}: cannot be read: {type(error).__name__}: {error}"]
        yield from found[:MOST]
    known = bundle.one("run.jsonl").get("head")
    if head and known != head:
        yield f"run.jsonl: the chain ends with {known}, and you know it to end with {head}"


def chain_holds(bundle: Bundle) -> Iterator[str]:
    """Every event follows the one before it, up to the head that the run names."""
    run, prev, place = bundle.one("run.jsonl"), "", 0
    for line in bundle.lines("audit.jsonl"):
        place += 1
        event = SimpleNamespace(**line | {"at": datetime.fromisoformat(line["at"])})
        if fault := fault_of(event, prev=prev, place=place):
            yield f"audit.jsonl line {place}: {fault}"
            return
        prev = event.hash
    if (place, prev) != (run["seq"], run["head"]):
        yield f"audit.jsonl: ends with event {place}, and the run names event {run['seq']}"


def digests_hold(bundle: Bundle) -> Iterator[str]:
    """Each text is what the digest beside it was made of."""
    run, plan = bundle.one("run.jsonl"), bundle.one("plan.jsonl")
    if canonical.digest(run["input"]) != run["input_digest"]:
        yield "run.jsonl: the input is not what its digest was made of"
    if not plan["hash"] == run["plan_id"] == _plan_hash(plan["body"]):
        yield "plan.jsonl: is not the plan that the run names"
    yield from _unlike(bundle, "steps.jsonl", "facts", "facts_digest")
    yield from _unlike(bundle, "calls.jsonl", "request", "request_digest")
    yield from _unlike(bundle, "calls.jsonl", "answer", "answer_digest")
    yield from _unlike(bundle, "planned_calls.jsonl", "request", "request_digest")


def _plan_hash(body: str) -> str:
    """Of all that its hash covers, which is not what people may have written beside it."""
    try:
        return Plan.from_text(body).covered_hash()
    except (ValueError, KeyError, TypeError):
        return ""


def _unlike(bundle: Bundle, part: str, text: str, digest: str) -> Iterator[str]:
    for place, row in enumerate(bundle.lines(part), start=1):
        if row[digest] and row[text] is not None and canonical.digest(row[text]) != row[digest]:
            yield f"{part} line {place}: {text} is not what its digest was made of"


def line_equals_parts(bundle: Bundle) -> Iterator[str]:
    """A run that has ended has a closing line, and its parts say the same as that line."""
    run = bundle.one("run.jsonl")
    lines = [one for one in bundle.lines("audit.jsonl") if one["kind"] == "audit.line"]
    if run["ended_at"] is None or not lines or not lines[-1]["body"]:
        return
    said: dict[str, Any] = canonical.loads(lines[-1]["body"])
    for name, column in LINE_FIELDS.items():
        if said[name] != run[column]:
            yield f"run.jsonl: says the {name} {run[column]}, the closing line {said[name]}"
    for name, part in LINE_PARTS.items():
        rows = bundle.lines(part)
        if len(rows) != len(said[name]):
            yield f"{part}: holds {len(rows)}, the closing line names {len(said[name])}"
            continue
        for place, (row, told) in enumerate(zip(rows, said[name], strict=True), start=1):
            if {key: row.get(key) for key in told} != told:
                yield f"{part} line {place}: is not what the closing line says of it"


def files_are_whole(bundle: Bundle) -> Iterator[str]:
    """A step's files are the bytes that its record names."""
    for place, row in enumerate(bundle.lines("files.jsonl"), start=1):
        if row["part"] and bundle.digest_of(row["part"]) != row["digest"]:
            yield f"{row['part']}: is not the file that files.jsonl line {place} names"
