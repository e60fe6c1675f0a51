"""Declaring a workflow: what stays plain Python, what is registered, what is refused at once."""

import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from runs.definition import (
    Approval,
    Contract,
    DeclarationError,
    Effect,
    Heartbeat,
    Probe,
    Secret,
    Waived,
    Workflow,
    gates,
    registry,
    step,
)
from runs.definition.step import declaration_of
from tests.definition.builders import an_effect, answers, line_of

pytestmark = pytest.mark.one_database


def a_workflow(name: str, version: int = 1) -> type[Workflow]:
    class Made(Workflow, abstract=True):
        @step(writes=["x"])
        def work(self, run: Any) -> None: ...

    Made.name, Made.version = name, version
    Made.__qualname__ = f"Made.{name}{version}"
    registry.register(Made)
    return Made


def test_a_decorated_method_stays_a_plain_method() -> None:
    class Greeting(Workflow):
        name, version = "greeting", 1

        @step(writes=["x"])
        def greet(self, run: Any) -> None:
            """Says hello."""
            run.append("hello")

    said: list[str] = []
    Greeting().greet(said)

    assert said == ["hello"]
    assert Greeting.steps[0].doc == "Says hello."
    assert Greeting.steps[0].place.line == line_of(
        test_a_decorated_method_stays_a_plain_method, "@step("
    )


def test_steps_stand_in_the_order_of_the_file() -> None:
    class Counting(Workflow):
        name, version = "counting", 1

        @step(writes=["z"])
        def zebra(self, run: Any) -> None: ...

        def helper(self) -> None: ...

        @step(writes=["a"])
        def ape(self, run: Any) -> None: ...

    assert [step.key for step in Counting.steps] == ["zebra", "ape"]


def test_the_next_version_may_inherit_the_last_ones_steps() -> None:
    class First(Workflow):
        name, version = "inherited", 1

        @step(writes=["a"])
        def load(self, run: Any) -> None: ...

        @step(reads=["a"], writes=["b"])
        def sort(self, run: Any) -> None: ...

    class Second(First):
        version = 2

        @step(writes=["a"], timeout=timedelta(minutes=1))
        def load(self, run: Any) -> None: ...

        @step(reads=["b"], writes=["c"])
        def tell(self, run: Any) -> None: ...

    assert [step.key for step in Second.steps] == ["load", "sort", "tell"]
    assert Second.steps[0].timeout == timedelta(minutes=1)
    assert registry.get("inherited", 1) is First
    assert registry.latest("inherited") is Second


def test_an_abstract_workflow_only_lends_its_steps() -> None:
    class Base(Workflow, abstract=True):
        @step(writes=["a"])
        def load(self, run: Any) -> None: ...

    class Concrete(Base):
        name, version = "concrete", 1

    assert registry.all_workflows() == [Concrete]
    assert [step.key for step in Concrete.steps] == ["load"]


def test_a_name_and_number_belong_to_one_class() -> None:
    class One(Workflow):
        name, version = "same", 1

    with pytest.raises(DeclarationError, match="'same' version 1 is defined twice") as refused:

        class Other(Workflow):
            name, version = "same", 1

    assert registry.get("same", 1) is One
    assert refused.value.place.file == __file__


def test_a_module_read_again_replaces_its_own_workflows() -> None:
    def read() -> type[Workflow]:
        class Again(Workflow):
            name, version = "again", 1

        return Again

    read()
    second = read()

    assert registry.get("again", 1) is second


def test_what_is_not_registered_is_answered_with_what_is() -> None:
    a_workflow("inbox", 2)
    a_workflow("archive")

    with pytest.raises(registry.UnknownWorkflow, match=r"Registered: archive 1, inbox 2\."):
        registry.get("inbox", 1)
    with pytest.raises(registry.UnknownWorkflow, match="No workflow 'inbx' is registered here"):
        registry.latest("inbx")


def test_workflows_are_listed_by_name_then_number() -> None:
    made = [a_workflow("b", 10), a_workflow("b", 9), a_workflow("a")]

    assert registry.all_workflows() == [made[2], made[1], made[0]]


def test_an_isolated_registry_leaves_the_other_as_it_was() -> None:
    outside = a_workflow("outside")

    with registry.isolated():
        a_workflow("inside")

    assert registry.all_workflows() == [outside]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Makes an app whose workflows module holds the given source."""
    monkeypatch.syspath_prepend(tmp_path)
    names: list[str] = []

    def make(source: str) -> str:
        name = f"an_app_{len(names)}"
        names.append(name)
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "workflows.py").write_text(source, "utf-8")
        return name

    yield make
    for module in [module for module in sys.modules if module.split(".")[0] in names]:
        del sys.modules[module]


SOUND = """
from runs.definition import Workflow
class Sound(Workflow):
    name, version = "sound", 1
"""


def test_discovery_reads_the_workflows_of_every_app_that_has_some(
    app: Callable[[str], str],
) -> None:
    registry.discover([app(SOUND), "json", "no_such_app"])

    assert [workflow.name for workflow in registry.all_workflows()] == ["sound"]
    assert registry.failures() == []


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("x = 1\nimport no_such_module\n", 2, "No module named 'no_such_module'"),
        ("x = 1\n\nx = (\n", 3, "SyntaxError"),
        ("from runs.definition import Waived\n\nWaived('')\n", 3, "Waived gives no reason."),
    ],
)
def test_a_module_that_cannot_be_read_is_kept_for_the_checks_and_hides_no_other(
    app: Callable[[str], str], source: str, line: int, said: str
) -> None:
    registry.discover([app(source), app(SOUND)])

    failure = registry.failures()[0]
    assert said in failure.message
    assert failure.place.file.endswith("an_app_0/workflows.py")
    assert failure.place.line == line
    assert [workflow.name for workflow in registry.all_workflows()] == ["sound"]


def test_r8_an_effect_is_irreversible_unless_it_says_how_it_is_undone() -> None:
    assert an_effect().irreversible
    assert not an_effect(reversible="Undelete it.").irreversible
    assert not an_effect(compensate=answers).irreversible


def test_a_plain_function_is_a_probe_that_settles_at_once() -> None:
    def find(key: str, request: dict[str, Any]) -> dict[str, Any] | None:
        return None

    assert an_effect(probe=find).look_up == Probe(find=find, settles=timedelta(0))
    assert an_effect().look_up is None


def test_a_secret_shows_its_name_only() -> None:
    assert repr(Secret("smtp_password")) == "Secret(name='smtp_password')"


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "effect name": (lambda: an_effect("Mailbox Delete"), "lower-case words joined by dots"),
    "send": (lambda: an_effect(send="later"), "send is 'later'. Give a function: send(request"),
    "no timeout": (lambda: an_effect(timeout=timedelta(0)), "timeout is datetime.timedelta(0)"),
    "bare seconds": (lambda: an_effect(timeout=30), "timeout is 30. Give a timedelta above zero"),
    "contract": (lambda: an_effect(contract="yes"), 'Write contract=Contract("the promise"'),
    "reversible": (lambda: an_effect(reversible=True), "Say in words how it is undone"),
    "probe": (lambda: an_effect(probe=True), "find(key, request) -> dict | None"),
    "promise": (lambda: Contract(" ", window=None), "A Contract promises nothing."),
    "window": (lambda: Contract("x", window=timedelta(0)), "A Contract's window is"),
    "settles": (lambda: Probe(find=lambda k, r: None, settles=timedelta(-1)), "settles is"),
    "secret": (lambda: Secret("a b"), "'a b' is no name for a Secret."),
    "of": (lambda: Approval(of=""), 'Name the planned fact, such as of="deletions".'),
    "groups": (lambda: Approval(of="x", groups="approvers"), "Write a list: ['approvers']."),
    "on_expiry": (lambda: Approval(of="x", on_expiry="approve"), "silence never approves"),  # type: ignore[arg-type]
    "never": (lambda: Approval(of="x", on_expiry="cancel"), "without expires never happens"),
    "waiver": (lambda: Waived(""), "Write why no person needs to agree"),
    "every": (
        lambda: Heartbeat(every=timedelta(0), grace=timedelta(1)),
        "Heartbeat: every is datetime.timedelta(0).",
    ),
    "progress": (
        lambda: Heartbeat(every=timedelta(2), grace=timedelta(1), progress=timedelta(1)),
        "raise progress or lower every",
    ),
    "reads": (lambda: step(reads="inbox")(a_body), "reads is 'inbox'. Write a list: ['inbox']."),
    "writes": (lambda: step(writes=[1])(a_body), "writes holds 1."),  # type: ignore[list-item]
    "effects": (lambda: step(effects=an_effect())(a_body), "Write a list: effects=[...]."),  # type: ignore[arg-type]
    "an effect": (lambda: step(effects=["x"])(a_body), "Declare an Effect(...)"),  # type: ignore[list-item]
    "approval": (lambda: step(approval="x")(a_body), "Give Approval(of=...) or Waived(reason)."),  # type: ignore[arg-type]
    "retry": (lambda: step(retry=3)(a_body), "Give Retry(attempts=...)."),  # type: ignore[arg-type]
    "timeout": (lambda: step(timeout=3)(a_body), "timeout is 3. Give a timedelta."),  # type: ignore[arg-type]
    "way out": (lambda: step(on_exhausted="x")(a_body), 'Write "ask", "restart" or "stop".'),  # type: ignore[arg-type]
    "fan-out": (lambda: step(each="shards")(a_body), "each='shards' is not available yet"),
    "no method": (lambda: step(writes=["x"])(staticmethod(a_body)), "without staticmethod"),
}


def a_body(self: Any, run: Any) -> None: ...


@pytest.mark.parametrize("mistake", WRONG)
def test_a_value_that_cannot_be_meant_is_refused_where_it_is_written(mistake: str) -> None:
    declare, said = WRONG[mistake]

    with pytest.raises(DeclarationError) as refused:
        declare()

    assert said in str(refused.value)
    assert refused.value.place.file in {__file__, answers.__code__.co_filename}
    assert refused.value.place.line > 0


def test_declarations_cannot_be_changed_afterwards() -> None:
    declared = declaration_of(step(writes=["x"])(a_body))

    assert declared is not None
    with pytest.raises(AttributeError):
        declared.key = "other"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        an_effect().timeout = timedelta(0)  # type: ignore[misc]


def test_equal_effects_are_equal_wherever_they_are_declared() -> None:
    assert Effect("a.b", send=answers) == Effect("a.b", send=answers)
    assert len({Effect("a.b", send=answers), Effect("a.b", send=answers)}) == 1


def test_a_wait_that_nobody_answers_for_is_named() -> None:
    with pytest.raises(gates.NoGate, match="No gate is registered for waits of kind 'seance'"):
        gates.gate_for("seance")
