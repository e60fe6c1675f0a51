"""What is wrong with what flows between steps: facts, effects, and the approvals that cover them."""

from collections.abc import Iterator

from runs.definition.approvals import Approval, Waived
from runs.definition.effects import Effect
from runs.definition.step import StepDeclaration
from runs.definition.workflow import Workflow
from runs.rules import inputs
from runs.rules.problem import Problem, nearest, problem


def flow_problems(cls: type[Workflow]) -> Iterator[Problem]:
    """Everything wrong between the steps of a workflow."""
    yield from _about_facts(cls)
    yield from _about_skipping(cls)
    yield from _about_effects(cls)
    for step in cls.steps:
        yield from _about_its_approval(cls, f"{cls.__name__}.{step.key}", step)


def _about_facts(cls: type[Workflow]) -> Iterator[Problem]:
    given = _input_names(cls)
    written: dict[str, StepDeclaration] = {}
    for step in cls.steps:
        subject = f"{cls.__name__}.{step.key}"
        for name in step.reads:
            if name not in written and name not in given:
                yield _unwritten(subject, name, step, given | set(written))
        for name in step.writes:
            if name in given:
                yield _written_twice(subject, name, step, f"{cls.__name__}.Input")
            elif name in written:
                yield _written_twice(subject, name, step, f"{cls.__name__}.{written[name].key}")
            else:
                written[name] = step


def _about_skipping(cls: type[Workflow]) -> Iterator[Problem]:
    for at, step in enumerate(cls.steps):
        missed = {name for later in cls.steps[at + 1 :] for name in later.reads} & set(step.writes)
        if step.may_skip and missed:
            yield problem(
                "E030",
                f"{cls.__name__}.{step.key} may be skipped, and a later step reads "
                f"{', '.join(sorted(missed))}, which it writes.",
                hint="Take may_skip=True away, or write that fact in a step of its own.",
                place=step.place,
            )


def _input_names(cls: type[Workflow]) -> set[str]:
    return set() if cls.Input is None else set(inputs.names_of(cls))


def _unwritten(subject: str, name: str, step: StepDeclaration, known: set[str]) -> Problem:
    return problem(
        "E006",
        f"{subject} reads {name!r}, which no earlier step writes and Input does not hold.",
        hint=f"Write it in an earlier step, add it to Input, or take it out of reads. {nearest(name, known)}",
        place=step.place,
    )


def _written_twice(subject: str, name: str, step: StepDeclaration, first: str) -> Problem:
    return problem(
        "E007",
        f"{subject} writes {name!r}, which {first} already gives.",
        hint="A fact is written once; give this one another name.",
        place=step.place,
    )


def _about_effects(cls: type[Workflow]) -> Iterator[Problem]:
    known: dict[str, Effect] = {}
    for step in cls.steps:
        for at, effect in enumerate(step.effects):
            if effect in step.effects[:at]:
                yield problem(
                    "E011",
                    f"{cls.__name__}.{step.key} names the effect {effect.name!r} twice.",
                    hint="Name it once.",
                    place=step.place,
                )
            elif known.setdefault(effect.name, effect) != effect:
                yield problem(
                    "E011",
                    f"{cls.__name__} uses two different effects named {effect.name!r} "
                    f"({known[effect.name].place} and {effect.place}).",
                    hint="Keys are made from the name; give one of them another.",
                    place=effect.place,
                )
    for effect in known.values():
        yield from _about_an_effect(effect)


def _about_an_effect(effect: Effect) -> Iterator[Problem]:
    if effect.contract is None and effect.probe is None:
        yield problem(
            "W002",
            f"Effect {effect.name!r} has neither contract nor probe, so an unknown result will ask a person.",
            hint="Add contract=Contract(...) if the receiver promises to deduplicate by key, or probe= to look it up.",
            place=effect.place,
        )
    window = effect.contract.window if effect.contract else None
    if window is not None and window <= effect.timeout:
        yield problem(
            "W006",
            f"Effect {effect.name!r}: the contract's window ({window}) is over before the call's timeout "
            f"({effect.timeout}), so it never allows a second sending.",
            hint="Lower the timeout, or drop the contract and give a probe.",
            place=effect.place,
        )


def _about_its_approval(
    cls: type[Workflow], subject: str, step: StepDeclaration
) -> Iterator[Problem]:
    irreversible = [effect.name for effect in step.effects if effect.irreversible]
    match step.approval:
        case None if irreversible:
            # A warning, not an error: the engine keeps I7 by asking before each call; only the author's intent is open.
            yield problem(
                "W001",
                f"{subject} may call {', '.join(irreversible)}, which cannot be undone, with no approval and no "
                "written waiver: each call will ask a person.",
                hint='Plan the calls in an earlier step and add approval=Approval(of="..."), say how the effect is '
                'undone (reversible="..."), or waive it in writing with approval=Waived("...").',
                place=step.place,
            )
        case Waived() if not irreversible:
            yield problem(
                "W011",
                f"{subject} waives an approval that none of its effects needs.",
                hint="Take approval=Waived(...) out, so that the next irreversible effect is noticed.",
                place=step.place,
            )
        case Approval() as approval:
            yield from _about_an_approval(cls, subject, step, approval)


def _about_an_approval(
    cls: type[Workflow], subject: str, step: StepDeclaration, approval: Approval
) -> Iterator[Problem]:
    before = {name for earlier in cls.steps[: cls.steps.index(step)] for name in earlier.writes}
    if approval.of not in before:
        yield problem(
            "E008",
            f"{subject} asks approval of {approval.of!r}, which no earlier step plans.",
            hint=f"Plan it in an earlier step: run.plan({approval.of!r}, ...). {nearest(approval.of, before)}",
            place=step.place,
        )
    elif approval.of not in step.reads:
        yield problem(
            "E008",
            f"{subject} asks approval of {approval.of!r} but does not read it.",
            hint=f"Add {approval.of!r} to its reads; only what was approved may be applied.",
            place=step.place,
        )
    if not step.effects:
        yield problem(
            "E008",
            f"{subject} asks approval but has no effects.",
            hint="Declare the effects it applies, or ask with run.ask(...) where only an answer is wanted.",
            place=step.place,
        )
    if not approval.groups:
        yield problem(
            "W003",
            f"{subject}: anybody who may decide at all may approve {approval.of!r}.",
            hint='Name who may: Approval(..., groups=["approvers"]).',
            place=step.place,
        )
    if approval.timing and approval.timing.valid_for and any(each.relay for each in step.effects):
        yield problem(
            "E008",
            f"{subject}: what a courier sends may leave after valid_for={approval.timing.valid_for}.",
            hint="Take valid_for out, or relay=True of its effects, which then leave at once.",
            place=step.place,
        )
    yield from _about_who_approves(subject, step, approval)
    if approval.expires is not None and approval.on_expiry == "stay":
        yield problem(
            "W004",
            f"{subject}: the approval expires after {approval.expires}, and then nothing happens.",
            hint='Say what happens with on_expiry="cancel", or leave expires out.',
            place=step.place,
        )


def _about_who_approves(
    subject: str, step: StepDeclaration, approval: Approval
) -> Iterator[Problem]:
    if approval.quorum < len(approval.all_of) and approval.quorum != 1:
        yield problem(
            "E031",
            f"{subject}: quorum={approval.quorum} is less than the {len(approval.all_of)} groups of all_of, "
            "and nobody is counted for two.",
            hint=f"Leave quorum out, or raise it to {len(approval.all_of)}.",
            place=step.place,
        )
    if approval.four_eyes is False and any(effect.irreversible for effect in step.effects):
        yield problem(
            "W012",
            f"{subject}: whoever starts the run may approve alone what cannot be undone.",
            hint="Leave four_eyes out, unless this is meant; the decision's page says it.",
            place=step.place,
        )
