"""Make a call once: known, sent, sent again under its contract, looked up, or asked about."""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn

from runs.definition.effects import Answer, Effect, NotSent, Refused, RetryLater
from runs.engine import compensating, doubting, faults, parking, relaying, secrets
from runs.engine.allowing import Allowing, ApprovedOtherwise, draft_of
from runs.engine.envelope import as_kept, as_shown, receiver_id_of, with_secrets
from runs.engine.limits import CallOverdue, StepLimit, TimeIsUp, breach_of_call
from runs.engine.refusing import AmbiguousCall, refused_name
from runs.engine.session import Attempt, Session
from runs.ledger import effects
from runs.queries import resume
from runs.queries.clock import db_now
from runs.rules import asks, canonical, keys
from runs.rules.answers import Answered
from runs.rules.calls import CallDraft, CallRecord, what_to_do
from runs.rules.fence import FenceLost
from runs.rules.retry import exhausted, gives_up
from runs.rules.states import UNSETTLED_CALLS, CallState

log = logging.getLogger(__name__)


class UndeclaredEffect(RuntimeError):
    """A step called an effect that it does not declare; add it to `effects=[...]`."""


class Caller:
    """The calls of one attempt."""

    def __init__(self, session: Session, attempt: Attempt, limit: StepLimit) -> None:
        self.session, self.attempt, self.limit = session, attempt, limit
        self.allowing = Allowing(session, attempt)

    def call(
        self, effect: Effect, *, resource: str, request: str, authority: str | None = None
    ) -> Answer:
        """The receiver's answer. `authority` is given where an approved list covers the call."""
        self._require_declared(effect)
        return self._answer_of(self._made(effect, resource, request, authority=authority))

    def _made(
        self,
        effect: Effect,
        resource: str,
        request: str,
        *,
        authority: str | None,
        undoes: int | None = None,
    ) -> CallRecord:
        known = self._known_calls().get((effect.name, resource))
        if known is not None:
            return self._settled(effect, known, request, authority=authority)
        allowed = (
            authority
            if authority is not None
            else self.allowing.authority(effect, resource, request)
        )
        draft = self.allowing.draft(effect, resource, request, authority=allowed, undoes=undoes)
        if effect.relay:
            return self._by_courier(effect, draft, known=None)
        self.session.hold_lease()
        record = effects.intend(
            self.session.fence, draft, place=self.attempt.place, written=self.session.written
        )
        self._remember(record)
        return self._send(effect, record)

    def _by_courier(
        self, effect: Effect, draft: CallDraft, *, known: CallRecord | None, allowed_by: str = ""
    ) -> CallRecord:
        """Park until a courier has sent it; what it found out by then is taken up as usual (R6)."""
        relaying.leave_to_couriers(
            self.session,
            self.attempt,
            [relaying.relayed(effect, draft, known=known, allowed_by=allowed_by)],
        )
        record = self._known_calls()[draft.effect, draft.resource]
        return self._settled(effect, record, draft.request, authority=draft.authority or None)

    def relay_ahead(self, calls: Sequence[tuple[Effect, str, str, str]]) -> None:
        """Leave calls that nobody has named yet to the couriers together, and wait for them once."""
        known = self._known_calls()
        fresh = [
            relaying.relayed(
                effect, self.allowing.draft(effect, resource, request, authority=authority)
            )
            for effect, resource, request, authority in calls
            if effect.relay and (effect.name, resource) not in known
        ]
        if fresh:
            relaying.leave_to_couriers(self.session, self.attempt, fresh[: relaying.AT_ONCE])

    def _require_declared(self, effect: Effect) -> None:
        if self.attempt.effect(effect.name) is None:
            raise UndeclaredEffect(
                f"Step {self.attempt.begun.key} called {effect.name} without declaring it: "
                f"write effects=[...] with it in @step."
            )

    def _known_calls(self) -> dict[tuple[str, str], CallRecord]:
        if self.attempt.calls is None:
            self.attempt.calls = resume.calls_of(
                self.session.fence.run_id, scope=self.attempt.begun.scope
            )
        return self.attempt.calls

    def _remember(self, record: CallRecord) -> CallRecord:
        self._known_calls()[record.effect, record.resource] = record
        if record.key not in self.attempt.named_keys:
            self.attempt.named_keys.add(record.key)
            if record.checkpoint is None:
                self.session.written.accepted_keys.append(record.key)
            elif record.generation < self.attempt.begun.generation:
                self.session.written.kept_keys.append(record.key)
        return record

    # What is known of a call that was made before

    def _settled(
        self, effect: Effect, record: CallRecord, request: str, *, authority: str | None
    ) -> CallRecord:
        self._remember(record)
        if record.request_digest != canonical.digest(request) and self._sends_both(
            effect, record, request
        ):
            beside = keys.resource_beside(record.resource, request)
            return self._made(effect, beside, request, authority=None)
        if effect.relay and relaying.is_under_way(record):
            return self._by_courier(effect, draft_of(record), known=record)
        self._refuse_undone(effect, record)
        match self._what_to_do(effect, record):
            case "known":
                return self._known(effect, record)
            case "send":
                # Who allowed it in an earlier generation did not allow it in this one (I7, R3, R4).
                if authority is None:
                    self.allowing.authority(effect, record.resource, record.request)
                return self._send_again(effect, record, allowed_by="it never left")
            case "resend":
                return self._send_again(
                    effect, record, allowed_by="the receiver's contract", in_doubt=True
                )
            case "probe":
                return self._looked_up(effect, record)
            case _:
                return self._reconciled(effect, record, why="nobody else can tell", evidence=None)

    def _refuse_undone(self, effect: Effect, record: CallRecord) -> None:
        """What was undone, or is to be, is neither looked up nor sent."""
        decided = self.attempt.answers.get(_reconciled_name(record))
        if record.state is CallState.ABANDONED or self._is_undone(effect, record):
            raise compensating.undone(effect, record, self._remember_undo(effect, record))
        if decided is not None and parking.option_of(decided) == "compensate":
            self.compensate(effect, record, decided=decided)

    def _is_undone(self, effect: Effect, record: CallRecord) -> bool:
        """An operator had a confirmed call undone, or has begun to."""
        undo = self._undo_known(effect, record)
        confirmed = record.state is CallState.CONFIRMED
        return confirmed and undo is not None and undo.state is not CallState.REFUSED

    def _undo_known(self, effect: Effect, record: CallRecord) -> CallRecord | None:
        named = effect.undo.name if effect.undo else ""
        return self._known_calls().get((named, compensating.resource_of(record)))

    def _remember_undo(self, effect: Effect, record: CallRecord) -> CallRecord | None:
        undo = self._undo_known(effect, record)
        return self._remember(undo) if undo else None

    def _what_to_do(self, effect: Effect, record: CallRecord) -> str:
        return what_to_do(
            record,
            window=effect.contract.window if effect.contract else None,
            has_contract=effect.contract is not None,
            has_probe=effect.look_up is not None,
            timeout=effect.timeout,
            now=db_now(),
        )

    def _known(self, effect: Effect, record: CallRecord) -> CallRecord:
        if record.state is CallState.CONFIRMED:
            self.session.written.reused_keys.append(record.key)
            return record
        reopened = self.attempt.answers.get(refused_name(record))
        if reopened is not None and parking.option_of(reopened) == "reopen":
            return self._send_again(effect, record, allowed_by=reopened.by)
        raise Refused(record.error)

    def _sends_both(self, effect: Effect, record: CallRecord, request: str) -> bool:
        """A person has seen both requests, and says whether the new one is a call of its own (I5)."""
        ask = asks.conflict(
            step=self.attempt.begun.key,
            call=as_shown(record),
            new_request=canonical.loads(request),
            beside=keys.resource_beside(record.resource, request),
            asked_first=self.allowing.asks_first(effect),
            redact=self._hidden_in(record.effect),
        )
        name = f"conflict {record.key[:40]} {canonical.digest(request)[:16]}"
        answered = parking.answered_or_park(self.session, self.attempt, name=name, ask=ask)
        return bool(parking.option_of(answered) == "send_new")

    def _looked_up(self, effect: Effect, record: CallRecord) -> CallRecord:
        probe = effect.look_up
        if probe is None:
            return record
        try:
            with self.limit.authors_code():
                found = probe.find(record.key, canonical.loads(record.request))
        except RetryLater:
            raise
        # The rim of a probe: what it raises is tried again like any error of the step, and when
        # no attempt is left it says only that nobody but a person can tell (I6).
        except Exception as error:
            if not self._is_last_attempt(record, error):
                raise
            failed = {"probe": f"failed: {secrets.describe(error)}"}
            failed["asked_at"] = db_now().isoformat()
            return self._reconciled(effect, record, why="its probe fails", evidence=failed)
        if found is not None:
            return self._confirm(effect, record, found, source="probe")
        asked = {"probe": "not found", "asked_at": db_now().isoformat()}
        if not self._sender_is_gone(record):
            return self._reconciled(
                effect, record, why="the old sender is not proven dead", evidence=asked
            )
        settled_at = record.sent_at + effect.timeout + probe.settles
        now = db_now()
        if now < settled_at:
            # A "no" before this may still turn into a "yes" (R1).
            raise RetryLater(
                settled_at - now + timedelta(milliseconds=50), "the probe may not know yet"
            )
        return self._send_again(effect, record, allowed_by="the probe found nothing")

    def _is_last_attempt(self, record: CallRecord, error: Exception) -> bool:
        retry, failures = self.attempt.declared.retry, self.attempt.begun.failures + 1
        answered = _reconciled_name(record) in self.attempt.answers
        return answered or exhausted(retry, failures) or gives_up(retry, error)

    def _sender_is_gone(self, record: CallRecord) -> bool:
        fence = self.session.fence
        gone = resume.senders_are_gone(fence.run_id, key=record.key, besides=fence.number)
        return gone and relaying.couriers_are_gone(record)

    def _reconciled(
        self, effect: Effect, record: CallRecord, *, why: str, evidence: Any
    ) -> CallRecord:
        name = _reconciled_name(record)
        answered = self.attempt.answers.get(name) or parking.answered_or_park(
            self.session,
            self.attempt,
            name=name,
            ask=doubting.question_of(
                self.session, self.attempt, effect, record, why=why, evidence=evidence
            ),
        )
        if parking.option_of(answered) == "compensate":
            self.compensate(effect, record, decided=answered)
        if parking.option_of(answered) == "happened":
            given = answered.answer.get("fields", {}).get("receiver_id", "")
            answer = {"id": given, "reconciled_by": answered.by}
            return self._remember(
                effects.confirm(
                    self.session.fence,
                    record,
                    answer=answer,
                    receiver_id=str(given),
                    source=f"person:{answered.by}",
                )
            )
        return self._send_again(effect, record, allowed_by=f"person:{answered.by}")

    def _hidden_in(self, name: str) -> Sequence[str]:
        effect = self.attempt.effect(name)
        return effect.redact if effect else ()

    def compensate(self, effect: Effect, record: CallRecord, *, decided: Answered) -> NoReturn:
        """Make the declared undo, as a call of its own; then raise Undone, here and ever after."""
        if record.state is not CallState.ABANDONED:
            made = self.undo(effect, record, decided=decided)
            if record.state in UNSETTLED_CALLS:
                self._remember(
                    effects.abandon(self.session.fence, record, by=decided.by, undo=made)
                )
        raise compensating.undone(effect, record, self._undo_known(effect, record))

    def undo(self, effect: Effect, record: CallRecord, *, decided: Answered) -> CallRecord:
        """The call that undoes this one, made under its own key as a person has decided."""
        undo = effect.undo
        if undo is None:
            raise UndeclaredEffect(f"{effect.name} declares no compensate=, so nothing undoes it.")
        return self._made(
            undo,
            compensating.resource_of(record),
            compensating.request_of(record),
            authority=compensating.authority_of(decided),
            undoes=record.id,
        )

    # Sending

    def _send_again(
        self, effect: Effect, record: CallRecord, *, allowed_by: str, in_doubt: bool = False
    ) -> CallRecord:
        if effect.relay:
            draft, by = draft_of(record), "" if in_doubt else allowed_by
            return self._by_courier(effect, draft, known=record, allowed_by=by)
        self.session.hold_lease()
        again = effects.send_again(self.session.fence, record, allowed_by=allowed_by)
        return self._send(effect, self._remember(again), in_doubt=in_doubt)

    def _send(self, effect: Effect, record: CallRecord, *, in_doubt: bool = False) -> CallRecord:
        """`in_doubt` when an earlier sending may have happened, whatever becomes of this one."""
        fence, leaving, began = self.session.fence, False, time.monotonic()
        try:
            self.allowing.require_as_allowed(effect, record)
            sent = with_secrets(record)
            self.session.hold_lease()
            with self.limit.sending(effect.timeout.total_seconds()):
                leaving, began = True, time.monotonic()
                answer = effect.send(sent, key=record.key, timeout=effect.timeout.total_seconds())
        except Refused as refusal:
            reason = secrets.safe(refusal.reason)
            said = None if refusal.answer is None else as_kept(refusal.answer)
            self._remember(effects.refuse(fence, record, reason=reason, answer=said))
            raise
        except (NotSent, RetryLater, ApprovedOtherwise) as unsent:
            self._did_not_leave(record, secrets.describe(unsent), in_doubt=in_doubt)
            raise
        except TimeIsUp:
            # Before the call could leave, or while it was under way.
            late = "the step's timeout was over"
            self._did_not_leave(record, late, in_doubt=leaving or in_doubt)
            raise
        # The rim of a call: whatever else comes out, nobody knows whether it happened (R7).
        except (Exception, SystemExit, CallOverdue) as error:  # noqa: BLE001
            return self._doubted(effect, record, error, took=time.monotonic() - began)
        faults.reach("sent")
        return self._book(effect, record, answer)

    def _did_not_leave(self, record: CallRecord, reason: str, *, in_doubt: bool) -> None:
        """This sending left nothing; with an earlier one in doubt the call itself stays so (I6)."""
        if in_doubt:
            self._remember(effects.doubt(self.session.fence, record, error=reason))
        else:
            self._remember(effects.keep_unsent(self.session.fence, record, reason=reason))

    def _book(self, effect: Effect, record: CallRecord, answer: Any) -> CallRecord:
        try:
            return self._confirm(effect, record, answer, source="receiver")
        except FenceLost:
            # Whoever has replaced this worker decides without it; what is known is evidence (R25).
            effects.keep_late_answer(self.session.fence, record, answer=as_kept(answer))
            raise

    def _confirm(
        self, effect: Effect, record: CallRecord, answer: Any, *, source: str
    ) -> CallRecord:
        faults.reach("before_result")
        kept = as_kept(answer)
        receiver_id = receiver_id_of(effect, answer)
        return self._remember(
            effects.confirm(
                self.session.fence, record, answer=kept, receiver_id=receiver_id, source=source
            )
        )

    def _doubted(
        self, effect: Effect, record: CallRecord, error: BaseException, *, took: float
    ) -> CallRecord:
        described, fence = secrets.describe(error), self.session.fence
        breach = breach_of_call(effect, record, error, took=took)
        doubted = self._remember(effects.doubt(fence, record, error=described, breach=breach))
        log.warning(
            "call.ambiguous",
            extra={"run": str(self.session.fence.run_id), "key": record.key, "error": described},
        )
        if self._what_to_do(effect, doubted) == "ask":
            return self._reconciled(effect, doubted, why="no answer came back", evidence=None)
        raise AmbiguousCall(
            f"{effect.name} for {record.resource} was sent and not answered: {described}"
        ) from error

    def _answer_of(self, record: CallRecord) -> Answer:
        answer: Answer = canonical.loads(record.answer or "{}")
        return answer


def _reconciled_name(record: CallRecord) -> str:
    return f"reconcile {record.key} {record.sends}"
