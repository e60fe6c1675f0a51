"""The run that a fresh installation shows: `inbox_triage` on a sample, or on one's own mail."""

from pathlib import Path

from config.environment import ROOT
from runs.definition.registry import UnknownWorkflow
from runs.ledger import lifecycle
from runs.ledger.plans import PlanChanged
from runs.management.acting import actor_named

SAMPLE = ROOT / "runs" / "examples" / "sample" / "inbox.tsv"


class UnreadableInbox(Exception):
    """The path named with INBOX cannot be read; the message says why."""


def readable(inbox: Path | None) -> Path:
    """The inbox to sort, checked before anything is started."""
    if inbox is None:
        return SAMPLE
    try:
        path = inbox.expanduser().resolve()
        path.stat()
    except FileNotFoundError:
        raise UnreadableInbox(f"There is no inbox at {path}.") from None
    except (OSError, RuntimeError) as problem:
        raise UnreadableInbox(f"The inbox {inbox} cannot be read: {problem}.") from None
    return path


def begin(inbox: Path) -> str:
    """Starts it unless it was started before; says in a sentence what became of it."""
    try:
        run = lifecycle.start(
            actor_named(None),
            workflow="inbox_triage",
            data={"inbox": str(inbox)},
            reference=inbox.stem,
            start_key=f"up {inbox}"[-200:],
        )
    except (UnknownWorkflow, PlanChanged, lifecycle.StartKeyTaken) as refused:
        return f"No run was started: {refused}"
    if run.created:
        return (
            f"The run {run.reference} sorts {inbox}; it stops and asks before it deletes anything."
        )
    return f"The run {run.reference} of {inbox} was started before; it is {run.state}."
