"""Puts a receiver in the place of every effect that a workflow declares, for as long as a test lasts."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from runs.definition import registry
from runs.definition.effects import Effect, Probe
from runs.definition.workflow import Workflow
from runs.testing.receivers import Receiver


class NoSuchEffect(LookupError):
    """A receiver was named for an effect that nobody declares; the text says which there are."""


class StandIns:
    """The receivers of a rehearsal by effect; whoever was not given gets one that confirms everything."""

    def __init__(self, given: Mapping[str, Receiver], *, real: Collection[str]) -> None:
        self._receivers, self._real = dict(given), frozenset(real)
        self._replaced: dict[int, Effect] = {}

    def receiver(self, effect: str) -> Receiver:
        """Who stands in for this effect, now or as soon as a workflow is started that declares it."""
        return self._receivers.setdefault(effect, Receiver())

    def take_the_place_of(self, workflow: type[Workflow], stack: ExitStack) -> None:
        """From now on nothing that this workflow sends leaves the test, but what is to be `real`."""
        self._refuse_strangers(workflow)
        for effect in _effects_of(workflow):
            if id(effect) not in self._replaced and effect.name not in self._real:
                stack.enter_context(_replaced(effect, self.receiver(effect.name)))
                self._replaced[id(effect)] = effect

    def _refuse_strangers(self, workflow: type[Workflow]) -> None:
        known = {effect.name for each in registry.all_workflows() for effect in _effects_of(each)}
        declared = {effect.name for effect in _effects_of(workflow)}
        if strange := sorted({*self._receivers, *self._real} - known - declared):
            raise NoSuchEffect(
                f"No workflow declares an effect {', '.join(strange)}. "
                f"Those of {workflow.name}: {', '.join(sorted(declared)) or 'none'}."
            )


def _effects_of(workflow: type[Workflow]) -> list[Effect]:
    return [effect for step in workflow.steps for effect in step.effects]


@contextmanager
def _replaced(effect: Effect, receiver: Receiver) -> Iterator[None]:
    """The receiver keeps what the effect declares: its contract's promise, and its probe."""
    receiver.stand_for(effect)
    probe = effect.look_up
    before = {"send": effect.send, "probe": effect.probe}
    # An effect is frozen for its authors; its fingerprint covers none of the two.
    object.__setattr__(effect, "send", receiver.send)
    if probe is not None:
        found = Probe(find=receiver.find, settles=probe.settles)
        object.__setattr__(effect, "probe", found)
    try:
        yield
    finally:
        for name, value in before.items():
            object.__setattr__(effect, name, value)
