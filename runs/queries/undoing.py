"""What undoing a confirmed call would send, whether it can be done now, and the page that asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from runs.definition import registry
from runs.definition.effects import Effect
from runs.models import Call, Run, Wait
from runs.queries.limits import deadline_of_run
from runs.queries.pages_run import visible_run
from runs.queries.plans import plan_by_hash
from runs.queries.verbs import seen_as, stands_of
from runs.queries.why import why_of
from runs.rules import undoing
from runs.rules.fingerprints import effect_fingerprint
from runs.rules.keys import idempotency_key
from runs.rules.payloads import Payload, payload_of
from runs.rules.planned import call_digest
from runs.rules.policy import Actor, Verb, may
from runs.rules.redaction import under
from runs.rules.states import WaitState
from runs.rules.undoing import ASKED, Undo
from runs.rules.why import Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoing:
    """One call and its undo; `refusal` says why it cannot be made now."""

    call: Call
    undo: Undo | None
    refusal: str
    happens: str
    redact: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPage:
    run: Run
    call: Call
    undo: Undo | None
    why: Why
    refusal: str
    happens: str
    request: Payload | None
    seen: str

    @property
    def grave(self) -> bool:
        """The undo cannot itself be undone."""
        return self.undo is not None and self.undo.irreversible


def call_of(run: Run, key: str) -> Call | None:
    return Call.objects.filter(run=run, key=key).first()


def undoing_of(run: Run, call: Call) -> Undoing:
    """As the run stands now; the caller may hold it."""
    effect = _effect_of(run, call)
    undo = _undo_of(run, call, effect.undo) if effect and effect.undo else None
    deadline = deadline_of_run(run)
    stands, made = stands_of(run), Call.objects.filter(undoes=call).first()
    refusal = undoing.why_no_undo(
        stands,
        call_state=call.state,
        declares_one=undo is not None,
        before=made.state if made else "",
        asked=_is_asked(run, call),
        deadline_is_over=deadline is not None and deadline.is_over,
    )
    happens = ""
    if undo is not None and not refusal:
        happens = undoing.what_happens(
            undo,
            effect=call.effect,
            resource=call.resource,
            step=run.step,
            withdraws=bool(stands.waits_for),
        )
    hidden = plan_by_hash(run.plan_id).hidden_in(call.effect)
    return Undoing(call=call, undo=undo, refusal=refusal, happens=happens, redact=hidden)


def _effect_of(run: Run, call: Call) -> Effect | None:
    """As the code of the run's version declares it; None where that is not here."""
    try:
        steps = registry.get(run.workflow, run.version).steps
    except registry.UnknownWorkflow:
        return None
    return undoing.declared_in(steps, scope=call.scope, name=call.effect)


def _undo_of(run: Run, call: Call, effect: Effect) -> Undo:
    """Made in the step that the run stands at, under its scope, so its key is known beforehand."""
    resource = undoing.resource_of(call.key)
    request = undoing.request_of(
        key=call.key, resource=call.resource, request=call.request, answer=call.answer
    )
    key = idempotency_key(
        run_id=run.pk,
        scope=plan_by_hash(run.plan_id).step(run.step).scope,
        effect=effect.name,
        resource=resource,
        request_text=request,
    )
    digest = call_digest(
        effect=effect.name,
        fingerprint=effect_fingerprint(effect),
        resource=resource,
        request=request,
        evidence="null",
    )
    return Undo(effect=effect, key=key, resource=resource, request=request, digest=digest)


def _is_asked(run: Run, call: Call) -> bool:
    """Somebody has, and no worker has come to it yet."""
    waits = Wait.objects.filter(run=run, step=run.step, generation=run.generation)
    asked = waits.filter(name=f"{ASKED}{call.key}", superseded=False)
    return asked.filter(state=WaitState.RESOLVED.value).exists()


def undo_page(actor: Actor, run_id: UUID, key: str) -> UndoPage | None:
    """None when this actor sees no such call."""
    run = visible_run(actor, run_id)
    call = call_of(run, key) if run else None
    if run is None or call is None:
        return None
    found = undoing_of(run, call)
    return UndoPage(
        run=run,
        call=call,
        undo=found.undo,
        why=why_of(run),
        refusal=found.refusal,
        happens=found.happens,
        request=_shown(found, visible=may(actor, Verb.VIEW_PAYLOADS)),
        seen=seen_as(run),
    )


def _shown(found: Undoing, *, visible: bool) -> Payload | None:
    if found.undo is None:
        return None
    paths = under(found.redact, "request", "answer")
    return payload_of(found.undo.request, visible=visible, paths=paths)
