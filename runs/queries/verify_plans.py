"""Whether what could not be undone was approved, with exactly these bytes (I7, R3, R8)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.models import Call, PlannedCall, Step, Wait
from runs.queries.verify_subject import AT_ONCE, Subject, is_digest_of, read
from runs.rules.planned import call_digest, list_digest
from runs.rules.states import StepState, WaitKind, WaitState
from runs.rules.violations import Violation

Sealed = Mapping[str, Any]


def plans_are_sealed(subject: Subject) -> Iterator[Violation]:
    """The fact of a finished step that planned calls is the count and digest of its rows."""
    plans = PlannedCall.objects.filter(run=subject.run).order_by()
    for step, plan, generation in plans.values_list("step", "plan", "generation").distinct():
        rows = _rows(subject, plan, generation)
        yield from _rows_hold(subject, plan, rows)
        row = _finished(subject, step, generation)
        sealed = (read(row.facts) or {}).get(plan) if row else None
        made = {"count": len(rows), "digest": list_digest(row.made for row in rows)}
        if row is not None and sealed != made:
            yield subject.violates(
                "R3", f"The plan “{plan}” is not the list of calls that step {step} sealed."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A planned call without its bytes: `made` is the digest that they make, `kept` the stored one."""

    ordinal: int
    effect: str
    resource: str
    request_digest: str
    request_holds: bool
    made: str
    kept: str


def _rows(subject: Subject, plan: str, generation: int) -> Sequence[Planned]:
    known = [plan.fingerprints for plan in subject.plans]
    rows = PlannedCall.objects.filter(run=subject.run, plan=plan, generation=generation)
    return [
        Planned(
            ordinal=row.ordinal,
            effect=row.effect,
            resource=row.resource,
            request_digest=row.request_digest,
            request_holds=is_digest_of(row.request, row.request_digest),
            made=_made(row, known),
            kept=row.digest,
        )
        for row in rows.order_by("ordinal").iterator(chunk_size=AT_ONCE)
    ]


def _made(row: PlannedCall, known: Sequence[Mapping[str, str]]) -> str:
    """What its bytes make, by the plan it was sealed under, or else by the present one."""
    made = ""
    for fingerprints in known:
        made = call_digest(
            effect=row.effect,
            fingerprint=fingerprints.get(row.effect, ""),
            resource=row.resource,
            request=row.request,
            evidence=row.evidence,
        )
        if made == row.digest:
            break
    return made


def _rows_hold(subject: Subject, plan: str, rows: Sequence[Planned]) -> Iterator[Violation]:
    for place, row in enumerate(rows, start=1):
        if row.ordinal != place:
            yield subject.violates("R3", f"Call {place} of the plan “{plan}” is missing.")
            return
        if row.made != row.kept or not row.request_holds:
            yield subject.violates(
                "R3", f"Call {place} of the plan “{plan}” is not what its digest covers."
            )


def _finished(subject: Subject, key: str, generation: int) -> Step | None:
    return next(
        (
            step
            for step in subject.steps
            if (step.key, step.generation) == (key, generation)
            and step.state == StepState.SUCCEEDED
        ),
        None,
    )


@dataclass(slots=True)
class Approvals:
    """The calls that each decision covers, worked out once."""

    subject: Subject
    known: dict[int, frozenset[tuple[str, str, str]] | str] = field(default_factory=dict)

    def covered_by(self, wait: Wait) -> frozenset[tuple[str, str, str]] | str:
        """(effect, resource, request digest) of each call, or what is wrong with the decision."""
        if wait.pk not in self.known:
            self.known[wait.pk] = self._covered_by(wait)
        return self.known[wait.pk]

    def _covered_by(self, wait: Wait) -> frozenset[tuple[str, str, str]] | str:
        asked, answer = read(wait.subject), read(wait.answer or "")
        if wait.kind != WaitKind.DECISION or wait.state != WaitState.RESOLVED:
            return f"is a {wait.state} {wait.kind}"
        if not isinstance(asked, dict) or not isinstance(answer, dict):
            return "cannot be read"
        if answer.get("option") != "approve":
            return f"was answered “{answer.get('option')}”"
        if asked.get("kind") == "plan":
            return self._of_a_plan(wait, asked["plan"], answer)
        return self._of_a_call(asked["call"]) if asked.get("kind") == "call" else "approves no call"

    def _of_a_plan(
        self, wait: Wait, plan: Sealed, answer: Mapping[str, Any]
    ) -> frozenset[tuple[str, str, str]] | str:
        rows = _rows(self.subject, plan["name"], plan.get("generation", wait.generation))
        if (len(rows), list_digest(row.made for row in rows)) != (plan["count"], plan["digest"]):
            return "was shown another list of calls than the one kept"
        struck = {int(ordinal) for ordinal in answer.get("struck", [])}
        left = [row for row in rows if row.ordinal not in struck]
        if list_digest(row.made for row in left) != answer.get("digest"):
            return "approved another list of calls than what is left of the plan"
        return frozenset((row.effect, row.resource, row.request_digest) for row in left)

    def _of_a_call(self, call: Mapping[str, Any]) -> frozenset[tuple[str, str, str]] | str:
        return frozenset({(call["effect"], call["resource"], call["request_digest"])})


def calls_were_allowed(subject: Subject) -> Iterator[Violation]:
    """Whatever is named as a call's authority is there, and covers this very call."""
    waits, approvals = {wait.pk: wait for wait in subject.waits}, Approvals(subject)
    rows = Call.objects.filter(run=subject.run).order_by("id")
    for call in rows.iterator(chunk_size=AT_ONCE):
        kind, _, named = call.authority.partition(":")
        if kind == "decision":
            wait = waits.get(int(named)) if named.isdigit() else None
            yield from _decided(subject, call, wait, approvals)
        elif kind == "waiver":
            yield from _waived(subject, call, named)
        elif call.irreversible:
            yield subject.violates("I7", f"{call.key} cannot be undone, and nothing allows it.")


def _decided(
    subject: Subject, call: Call, wait: Wait | None, approvals: Approvals
) -> Iterator[Violation]:
    if wait is None:
        yield subject.violates("I7", f"{call.key} names a decision that this run does not have.")
        return
    if call.undoes_id is not None:
        if '"option":"compensate"' not in (wait.answer or ""):
            yield subject.violates("I7", f"Nobody has decided that {call.key} undoes anything.")
        return
    covered = approvals.covered_by(wait)
    if isinstance(covered, str):
        yield subject.violates("I7", f"{call.key} names the decision {wait.pk}, which {covered}.")
    elif (call.effect, call.resource, call.request_digest) not in covered:
        yield subject.violates("I7", f"{call.key} is not among the calls that were approved.")
    elif wait.step != call.step or not _shown_bytes(subject, call, wait):
        yield subject.violates("I7", f"{call.key} is not what the decision {wait.pk} showed.")


def _shown_bytes(subject: Subject, call: Call, wait: Wait) -> bool:
    """A call approved alone was shown under its key, its digest over exactly these bytes."""
    asked = read(wait.subject)
    if asked["kind"] != "call":
        return True
    made = [
        call_digest(
            effect=call.effect,
            fingerprint=plan.fingerprints.get(call.effect, ""),
            resource=call.resource,
            request=call.request,
            evidence="null",
        )
        for plan in subject.plans
    ]
    return asked["call"]["key"] == call.key and asked["call"]["digest"] in made


def _waived(subject: Subject, call: Call, reason: str) -> Iterator[Violation]:
    waived = [step.approval.waived for step in subject.ever_planned(call.step) if step.approval]
    if reason not in waived:
        yield subject.violates("I7", f"{call.key} names a waiver that its plan does not hold.")
