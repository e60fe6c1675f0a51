"""What a run asks in a test, and the test's answer, given as the desk would give it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from runs.ledger import waking
from runs.queries import resume, visibility
from runs.queries.why import why_of
from runs.rules import canonical
from runs.rules.planned import list_digest
from runs.testing.outcomes import tester


class NothingAsked(LookupError):
    """The run waits for no decision; the text says how it stands."""


class NoSuchAnswer(LookupError):
    """The decision does not offer this answer; the text says what it offers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """An open decision: its kind, its text, the answers it offers, the calls it is about."""

    kind: str
    text: str
    options: dict[str, dict[str, Any]]
    evidence: Any
    groups: tuple[str, ...]
    calls: tuple[Mapping[str, Any], ...]
    wait_id: int


def question_of(run_id: UUID) -> Question:
    """What the run asks now."""
    run = visibility.visible_runs(tester()).get(pk=run_id)
    wait = run.waits.filter(state="open", kind="decision").first()
    if wait is None:
        raise NothingAsked(
            f"Run {run.reference} asks nobody anything: it is {run.state}. {why_of(run).sentence}"
        )
    ask = canonical.loads(wait.subject)
    return Question(
        kind=ask["kind"],
        text=ask["question"],
        options={option["key"]: option for option in ask["options"]},
        evidence=ask.get("evidence"),
        groups=tuple(ask.get("groups", ())),
        calls=_calls(run_id, ask, generation=wait.generation),
        wait_id=wait.pk,
    )


def _calls(run_id: UUID, ask: Mapping[str, Any], *, generation: int) -> tuple[dict[str, Any], ...]:
    if call := ask.get("call"):
        return (dict(call),)
    if not (plan := ask.get("plan")):
        return ()
    return tuple(
        {
            "ordinal": row.ordinal,
            "effect": row.effect,
            "resource": row.resource,
            "request": canonical.loads(row.request),
            "evidence": canonical.loads(row.evidence),
            "digest": row.digest,
        }
        for row in resume.planned_calls(run_id, plan=plan["name"], generation=generation)
    )


def answer(
    run_id: UUID, option: str, *, by: str, strike: Collection[str], fields: Mapping[str, Any]
) -> None:
    """Close the open decision with this option; `strike` names resources of calls to leave out."""
    asked = question_of(run_id)
    if option not in asked.options:
        offered = ", ".join(asked.options)
        raise NoSuchAnswer(f"“{asked.text}” cannot be answered “{option}”; it offers: {offered}.")
    chosen = asked.options[option]
    _refuse_wrong_fields(option, set(chosen["fields"]), set(fields))
    said = {"option": option, "fields": dict(fields), **_bound(asked, strike)}
    with transaction.atomic():
        waking.answer(asked.wait_id, answer=said, by=by, then=chosen["then"])


def _refuse_wrong_fields(option: str, known: set[str], given: set[str]) -> None:
    if strange := sorted(given - known):
        raise NoSuchAnswer(
            f"The answer “{option}” has no field {', '.join(strange)}; "
            f"it has: {', '.join(sorted(known)) or 'none'}."
        )


def _bound(asked: Question, strike: Collection[str]) -> dict[str, Any]:
    """What an approval binds: the digest of what is left of the list (R16)."""
    if asked.kind != "plan":
        return {"digest": asked.calls[0].get("digest", "") if asked.calls else "", "struck": []}
    if strange := sorted(set(strike) - {call["resource"] for call in asked.calls}):
        raise NoSuchAnswer(f"No call on the list is for {', '.join(strange)}.")
    kept = [call["digest"] for call in asked.calls if call["resource"] not in strike]
    struck = [call["ordinal"] for call in asked.calls if call["resource"] in strike]
    return {"digest": list_digest(kept), "struck": struck}
