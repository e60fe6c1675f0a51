"""Ask a receiver once more whether a call has happened, for the person who has to say so."""

import logging
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from uuid import UUID

from django.db import connection

from runs.definition import registry
from runs.definition.effects import Effect
from runs.engine import relaying, secrets
from runs.engine.envelope import as_kept, receiver_id_of
from runs.queries import resume
from runs.queries.clock import db_now
from runs.queries.ground import call_by_key, code_of
from runs.rules import canonical
from runs.rules.calls import CallRecord

log = logging.getLogger(__name__)

LONGEST = timedelta(seconds=10)
Outcome = Literal["found", "not found", "unknown"]


class NobodyToAsk(Exception):
    """This call's effect declares no probe that is known here, so its receiver cannot be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """`said` is the receiver's answer as canonical JSON, or the error that leaves it unknown.

    `settled` when a "not found" counts: the old sender is gone, and time enough has passed (R1).
    """

    outcome: Outcome
    said: str = ""
    receiver_id: str = ""
    settled: bool = False


def may_be_asked(run_id: UUID, key: str) -> bool:
    """Whether the code that is here declares a probe for this call."""
    call = call_by_key(run_id, key)
    effect = _effect_of(run_id, call) if call else None
    return effect is not None and effect.look_up is not None


def ask_receiver(run_id: UUID, key: str) -> Said:
    """Look the call up by its key, in a thread that is not waited for longer than it may take.

    Whatever the probe raises is no answer: then it is unknown. Raises NobodyToAsk.
    """
    call = call_by_key(run_id, key)
    effect = _effect_of(run_id, call) if call else None
    if call is None or effect is None or effect.look_up is None:
        raise NobodyToAsk("Its effect declares no probe that is known here; nobody can be asked.")
    asked = _Asked(run_id, effect, call)
    thread = threading.Thread(target=asked.look, name=f"asks about {key}", daemon=True)
    thread.start()
    within = min(effect.timeout, LONGEST).total_seconds()
    thread.join(within)
    if asked.said is None:
        return Said(outcome="unknown", said=f"no answer within {within:.0f} s")
    return asked.said


class _Asked:
    """One look-up; `said` stays empty until it has come back."""

    def __init__(self, run_id: UUID, effect: Effect, call: CallRecord) -> None:
        self.run_id, self.effect, self.call = run_id, effect, call
        self.said: Said | None = None

    def look(self) -> None:
        # The rim of a probe: whatever comes out of the author's code is recorded as unknown.
        try:
            self.said = _said(self.run_id, self.effect, self.call)
        except (Exception, SystemExit) as error:  # noqa: BLE001
            self.said = Said(outcome="unknown", said=secrets.describe(error))
            log.warning("probe.failed", extra={"key": self.call.key, "error": self.said.said})
        finally:
            connection.close()


def _said(run_id: UUID, effect: Effect, call: CallRecord) -> Said:
    probe = effect.look_up
    assert probe is not None  # noqa: S101 - asked for above
    found = probe.find(call.key, canonical.loads(call.request))
    if found is None:
        settled = _is_settled(run_id, effect, call, probe.settles)
        return Said(outcome="not found", settled=settled)
    kept = as_kept(found)
    return Said(
        outcome="found",
        said=canonical.dumps(kept),
        receiver_id=receiver_id_of(effect, found)[:500],
        settled=True,
    )


def _is_settled(run_id: UUID, effect: Effect, call: CallRecord, settles: timedelta) -> bool:
    gone = resume.senders_are_gone(run_id, key=call.key, besides=-1)
    gone = gone and relaying.couriers_are_gone(call)
    return gone and db_now() >= call.sent_at + effect.timeout + settles


def _effect_of(run_id: UUID, call: CallRecord) -> Effect | None:
    name, version = code_of(run_id)
    try:
        workflow = registry.get(name, version)
    except registry.UnknownWorkflow:
        return None
    effects = (each for step in workflow.steps for each in step.effects)
    declared = [each for effect in effects for each in (effect, effect.undo) if each]
    return next((each for each in declared if each.name == call.effect), None)
