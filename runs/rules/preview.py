"""What a posture would do, before anybody takes it: each step's fate, each key's, and what would happen twice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from runs.rules.plan import Plan, PlanEffect, PlanStep
from runs.rules.states import UNSETTLED_CALLS, CallState, StepState
from runs.rules.words import of

Posture = Literal["resume", "replay", "restart"]
Fate = Literal["kept", "redone", "asked", "never reached"]
KeyFate = Literal["same", "new"]

# So many calls are named one by one; the totals count them all.
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PastStep:
    """A step as it stands in the generation that counts now."""

    key: str
    state: str
    generation: int
    cursor: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """A call that was made, or one group of them: `amount` calls alike but for their resource."""

    step: str
    scope: str
    effect: str
    state: str
    unsent: bool
    irreversible: bool = False
    key: str = ""
    resource: str = ""
    run: str = ""
    amount: int = 1

    @property
    def may_have_happened(self) -> bool:
        """Whatever was not refused, and did leave, has happened or may have."""
        return self.state != CallState.REFUSED and not self.unsent

    @property
    def unsettled(self) -> bool:
        """Nobody knows whether it happened."""
        return self.state in UNSETTLED_CALLS and not self.unsent


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What a run has come to: short lists, and groups of what may be long.

    `relatives` are calls of the runs that this one has restarted, or that have restarted it.
    """

    steps: Sequence[PastStep]
    groups: Sequence[PastCall] = ()
    calls: Sequence[PastCall] = ()
    relatives: Sequence[PastCall] = ()
    unsettled: Sequence[PastCall] = ()
    questions: Mapping[str, int] = field(default_factory=dict)
    judgements: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A posture, and where it begins: the ordinal of the first step that is done again.

    `cursor` is where in that step, `generation` the one that counts afterwards. `version` is that
    of a new run where it differs from the old one's.
    """

    posture: Posture
    first: int
    cursor: int = 0
    generation: int = 1
    checkpoint: int = 0
    forget_judgements: bool = False
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFate:
    key: str
    ordinal: int
    fate: Fate
    because: str
    side_effect: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFate:
    """`fate` is that of the key; `then` says what becomes of the call."""

    key: str
    step: str
    effect: str
    resource: str
    state: str
    fate: KeyFate
    then: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """An effect that has happened, or may have, and would happen a second time."""

    key: str
    step: str
    effect: str
    resource: str
    state: str
    irreversible: bool
    reversibility: str
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A dry run. `refusal` says in words why the posture cannot be taken now, else it is empty."""

    posture: Posture
    generation: int
    checkpoint: int
    first: str
    cursor: int
    steps: Sequence[StepFate]
    calls: Sequence[CallFate]
    calls_total: int
    keys_same: int
    keys_new: int
    repeated: Sequence[Repeated]
    repeated_total: int
    irreversible_total: int
    judgements_kept: int
    judgements_forgotten: int
    unsettled: Sequence[PastCall]
    warnings: Sequence[str]
    refusal: str = ""

    @property
    def asks_first(self) -> bool:
        """Whether a person decides before anything begins."""
        return self.irreversible_total > 0

    def amount(self, fate: Fate) -> int:
        return sum(step.fate == fate for step in self.steps)

    @property
    def counts(self) -> dict[str, int]:
        """How many steps have each fate, as far as there are any."""
        fates: tuple[Fate, ...] = ("kept", "redone", "asked", "never reached")
        return {fate: self.amount(fate) for fate in fates if self.amount(fate)}


def preview(plan: Plan, past: Past, choice: Choice, *, refusal: str = "") -> Preview:
    """What this choice would do with this past."""
    again = [c for c in (*past.groups, *past.relatives) if _is_repeated(plan, c, choice)]
    named = [c for c in past.calls if _is_repeated(plan, c, choice)]
    named += [c for c in past.relatives if _is_repeated(plan, c, choice)]
    total = sum(call.amount for call in past.groups)
    new = _amount(past.groups, plan, choice)
    kept, forgotten = _judgements(plan, past, choice)
    return Preview(
        posture=choice.posture,
        generation=choice.generation,
        checkpoint=choice.checkpoint,
        first=plan.steps[choice.first - 1].key if choice.first <= len(plan.steps) else "",
        cursor=choice.cursor,
        steps=[_step_fate(step, past, choice) for step in plan.steps],
        calls=[_call_fate(plan, call, choice) for call in past.calls[:MOST_SHOWN]],
        calls_total=total,
        keys_same=total - new,
        keys_new=new,
        repeated=[_repeated(plan, call) for call in named[:MOST_SHOWN]],
        repeated_total=sum(call.amount for call in again),
        irreversible_total=sum(call.amount for call in again if call.irreversible),
        judgements_kept=kept,
        judgements_forgotten=forgotten,
        unsettled=past.unsettled,
        warnings=list(_warnings(past, choice)),
        refusal=refusal,
    )


def _is_new(plan: Plan, call: PastCall, choice: Choice) -> bool:
    """A key holds the run's id, so a new run makes new keys; but what is kept is not called."""
    return choice.posture == "restart" and _ordinal(plan, call.step) >= choice.first


def _amount(groups: Sequence[PastCall], plan: Plan, choice: Choice) -> int:
    return sum(call.amount for call in groups if _is_new(plan, call, choice))


def _is_repeated(plan: Plan, call: PastCall, choice: Choice) -> bool:
    return call.may_have_happened and _is_new(plan, call, choice)


def _ordinal(plan: Plan, key: str) -> int:
    """Where a step stands in the plan; one that the plan has lost is nowhere kept."""
    return next((step.ordinal for step in plan.steps if step.key == key), len(plan.steps))


def _effect(plan: Plan, call: PastCall) -> PlanEffect | None:
    effects = (effect for step in plan.steps for effect in step.effects)
    return next((effect for effect in effects if effect.name == call.effect), None)


def _reversibility(call: PastCall, effect: PlanEffect | None) -> str:
    if call.irreversible:
        return "cannot be undone"
    if effect is not None and effect.reversible:
        return f"reversible: {effect.reversible}"
    return "can be compensated"


def _repeated(plan: Plan, call: PastCall) -> Repeated:
    return Repeated(
        key=call.key,
        step=call.step,
        effect=call.effect,
        resource=call.resource,
        state=call.state,
        irreversible=call.irreversible,
        reversibility=_reversibility(call, _effect(plan, call)),
        run=call.run,
    )


def _step_fate(step: PlanStep, past: Past, choice: Choice) -> StepFate:
    known = next((one for one in past.steps if one.key == step.key), None)
    fate, because = _fate(step, known, past, choice)
    return StepFate(
        key=step.key,
        ordinal=step.ordinal,
        fate=fate,
        because=because,
        side_effect=bool(step.effects) or step.transactional,
    )


def _fate(step: PlanStep, known: PastStep | None, past: Past, choice: Choice) -> tuple[Fate, str]:
    if step.ordinal < choice.first:
        return "kept", _why_kept(known, choice)
    asks = "; ".join(_asks(step, past, choice))
    if known is None:
        return "never reached", f"done for the first time{'; ' if asks else ''}{asks}"
    if asks:
        return "asked", asks
    if step.ordinal == choice.first and choice.cursor:
        return "redone", f"goes on behind item {choice.cursor:,}; what is before it is kept"
    return "redone", "its body runs again" + (", under new keys" if _restarts(choice) else "")


def _restarts(choice: Choice) -> bool:
    return choice.posture == "restart"


def _why_kept(known: PastStep | None, choice: Choice) -> str:
    if _restarts(choice):
        return "its facts are copied; its body does not run"
    return f"done in generation {known.generation if known else 1}; its body does not run again"


def _asks(step: PlanStep, past: Past, choice: Choice) -> Iterator[str]:
    """Why a person will be asked in this step."""
    final = [effect.name for effect in step.effects if effect.irreversible]
    if step.approval is not None and step.approval.of:
        yield f"asks for approval of {step.approval.of}"
    elif final and (step.approval is None or not step.approval.waived):
        yield f"asks before it calls {', '.join(final)}, which cannot be undone"
    if not _restarts(choice):
        yield from _asks_about_calls(step, past)
    if amount := past.questions.get(step.key, 0):
        yield f"asks {of(amount, 'question')} of its own, as it did before"


def _asks_about_calls(step: PlanStep, past: Past) -> Iterator[str]:
    mine = [call for call in past.groups if call.scope == step.scope]
    alone = {e.name for e in step.effects if not e.has_contract and not e.has_probe}
    doubt = sum(call.amount for call in mine if call.unsettled and call.effect in alone)
    refused = sum(call.amount for call in mine if call.state == CallState.REFUSED)
    if doubt:
        yield f"asks whether {of(doubt, 'call')} happened"
    if refused:
        yield f"asks about {of(refused, 'call')} that the receiver refused"


def then_of(plan: Plan, call: PastCall, choice: Choice) -> str:
    """What becomes of a call, or of a group of them, in words."""
    if _is_new(plan, call, choice):
        return _then_new(call)
    return _then_same(plan, call, choice)


def _call_fate(plan: Plan, call: PastCall, choice: Choice) -> CallFate:
    new = _is_new(plan, call, choice)
    return CallFate(
        key=call.key,
        step=call.step,
        effect=call.effect,
        resource=call.resource,
        state=call.state,
        fate="new" if new else "same",
        then=then_of(plan, call, choice),
    )


def _then_new(call: PastCall) -> str:
    if not call.may_have_happened:
        return "sent under a new key; it has not happened before"
    return "sent a second time, under a new key"


def _then_same(plan: Plan, call: PastCall, choice: Choice) -> str:
    if _ordinal(plan, call.step) < choice.first:
        return "kept with its step"
    if call.state == CallState.CONFIRMED:
        return "not sent again; the known answer is reused"
    if call.state == CallState.REFUSED:
        return "not sent again unless a person reopens it"
    if call.unsent:
        return "sent; it never left before"
    return _then_in_doubt(_effect(plan, call))


def _then_in_doubt(effect: PlanEffect | None) -> str:
    if effect is not None and effect.has_contract:
        return "sent again under the same key while the receiver's contract holds"
    if effect is not None and effect.has_probe:
        return "looked up by its key first"
    return "a person is asked whether it happened"


def _judgements(plan: Plan, past: Past, choice: Choice) -> tuple[int, int]:
    again = sum(
        past.judgements.get(step.scope, 0) for step in plan.steps if step.ordinal >= choice.first
    )
    forgets = _restarts(choice) or choice.forget_judgements
    return (0, again) if forgets else (again, 0)


def _warnings(past: Past, choice: Choice) -> Iterator[str]:
    begun = [step for step in past.steps if step.state == StepState.SUCCEEDED]
    if choice.posture == "replay" and past.groups:
        yield (
            "A redone step may choose other inputs: another request for the same resource asks a "
            "person; a call that is not named any more asks before the step may end."
        )
    if choice.version is not None:
        yield f"The new run takes version {choice.version} of its workflow."
    if _restarts(choice) and choice.first > 1 and begun:
        yield (
            "Rows that kept steps wrote into tables of their own stay under the old run's id; "
            "only facts, plans and files are copied."
        )
