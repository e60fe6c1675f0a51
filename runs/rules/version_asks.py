"""What a person is asked about a run whose plan the present code does not have."""

from collections.abc import Iterator
from typing import Any

from runs.rules.asks import Ask, ask, option
from runs.rules.carrying import Carry
from runs.rules.courses import Verdict
from runs.rules.past import Past
from runs.rules.words import of

KIND = "version"
WAIT = "Wait for version"


def asked(past: Past, verdict: Verdict) -> Ask:
    """The question and the ways on, each with its consequence."""
    assert verdict.to is not None  # noqa: S101 - nobody is asked about nothing
    return ask(
        KIND,
        f"{verdict.sentence} How does the run go on?",
        list(_options(past, verdict)),
        evidence={
            "reason": verdict.reason,
            "because": verdict.sentence,
            "from": {"version": past.version, "plan": past.plan.hash},
            "to": {"version": verdict.to.version, "plan": verdict.to.hash},
            "finished": [step.key for step in past.done],
            "stands_at": past.here.key,
            **({"begun": past.here.left} if past.here.left else {}),
        },
    )


def _options(past: Past, verdict: Verdict) -> Iterator[dict[str, Any]]:
    assert verdict.to is not None  # noqa: S101
    version = verdict.to.version
    yield option(
        "wait",
        f"{WAIT} {past.version}",
        f"Nothing happens until a worker with the code of version {past.version} is there. Then "
        f"the run goes on with it, at step {past.here.key}.",
    )
    if verdict.reason == "drops calls":
        yield option(
            "migrate",
            f"Migrate to version {version}",
            f"The run goes on under version {version}. Calls whose step it no longer has stay as "
            "they are and are named by nobody again.",
            danger=True,
        )
    if verdict.reason == "migration failed":
        yield option(
            "again",
            "Try the migration again",
            "The migration that is registered then is run once more.",
        )
    if verdict.redo is not None:
        yield _redo(past, verdict.redo)
    yield option(
        "stop",
        "Stop",
        f"The run stops as failed in step {past.here.key}. It stays open to be restarted under "
        f"version {version}, with a new run id.",
        then="fail",
    )
    yield option(
        "cancel",
        "Cancel",
        "The run ends as cancelled. What earlier steps did stays.",
        then="cancel",
    )


def _redo(past: Past, redo: Carry) -> dict[str, Any]:
    kept = past.done[: redo.at.ordinal - 1]
    number = kept[-1].checkpoint if kept else 0
    behind = f"checkpoint {number}" if number else "the start"
    before = f"Kept: {', '.join(step.key for step in kept)}. " if kept else ""
    made = sum(len(keys) for keys in past.calls.values())
    calls = (
        f" Of its {of(made, 'call')}, those that are asked for again with the same request are "
        "not sent again; the others stay as they are."
        if made
        else ""
    )
    return option(
        "redo",
        f"Go on from {behind} under version {redo.plan.version}",
        f"{before}Step {redo.at.key} and all behind it are done, or done again, as a new "
        f"generation under version {redo.plan.version}.{calls}",
        danger=bool(made),
    )
