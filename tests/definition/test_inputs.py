"""What a run may be started with, said by `Input` and checked at the start."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.definition import Workflow, step
from runs.rules import canonical, inputs

pytestmark = pytest.mark.one_database


class Everything:
    inbox: Annotated[str, "The folder to sort."]
    limit: int = 100
    share: float = 0.5
    dry: bool = False
    tags: list[str] = ["a"]
    options: dict[str, Any] = {}
    judge: Literal["scoring", "model"] = "scoring"
    since: date | None = None
    until: datetime | None = None
    sizes: list[int] | None = None


@pytest.fixture
def workflow() -> type[Workflow]:
    class Sorting(Workflow):
        name, version = "sorting", 1
        Input = Everything

        @step(reads=["inbox"], writes=["sorted"])
        def sort(self, run: Any) -> None: ...

    return Sorting


def test_what_is_left_out_gets_its_default(workflow: type[Workflow]) -> None:
    data = inputs.validated(workflow, {"inbox": "x"})

    assert data == {
        "inbox": "x", "limit": 100, "share": 0.5, "dry": False, "tags": ["a"], "options": {},
        "judge": "scoring", "since": None, "until": None, "sizes": None,
    }  # fmt: skip


def test_a_default_is_never_shared_between_runs(workflow: type[Workflow]) -> None:
    inputs.validated(workflow, {"inbox": "x"})["tags"].append("b")

    assert inputs.validated(workflow, {"inbox": "x"})["tags"] == ["a"]


@pytest.mark.parametrize(
    ("field", "given", "kept"),
    [
        ("share", 1, 1.0),
        ("since", "2026-01-31", "2026-01-31"),
        ("since", date(2026, 1, 31), "2026-01-31"),
        ("until", "2026-01-31T10:00:00+01:00", "2026-01-31T09:00:00+00:00"),
        ("until", "2026-01-31T09:00:00Z", "2026-01-31T09:00:00+00:00"),
        ("until", datetime(2026, 1, 31, 9, tzinfo=UTC), "2026-01-31T09:00:00+00:00"),
        ("sizes", [1, 2], [1, 2]),
        ("options", {"deep": [1, {"x": None}]}, {"deep": [1, {"x": None}]}),
    ],
)
def test_values_become_the_json_that_the_run_reads(
    workflow: type[Workflow], field: str, given: Any, kept: Any
) -> None:
    assert inputs.validated(workflow, {"inbox": "x", field: given})[field] == kept


@pytest.mark.parametrize(
    ("field", "given", "said"),
    [
        ("inbox", 4, "expected text, got int 4"),
        ("inbox", None, "may not be null"),
        ("inbox", "\ud800", "surrogate"),
        ("limit", "4", "expected whole number, got str '4'"),
        ("limit", True, "expected whole number, got bool True"),
        ("limit", 1.0, "expected whole number"),
        ("limit", 2**53, "beyond 2^53"),
        ("share", float("nan"), "expected number"),
        ("dry", 1, "expected true or false"),
        ("tags", "a", "expected a list"),
        ("tags", ["a", 2], "item 2: expected text, got int 2"),
        ("options", {1: 2}, "no string"),
        ("judge", "oracle", "expected one of 'scoring', 'model', got str 'oracle'"),
        ("since", "31.1.2026", "expected a date such as 2026-01-31"),
        ("until", "2026-01-31T09:00:00", "has no time zone"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_field(
    workflow: type[Workflow], field: str, given: Any, said: str
) -> None:
    with pytest.raises(inputs.InvalidInput) as refused:
        inputs.validated(workflow, {"inbox": "x", field: given})

    assert list(refused.value.errors) == [field]
    assert said in refused.value.errors[field]


def test_all_that_is_wrong_is_said_at_once(workflow: type[Workflow]) -> None:
    with pytest.raises(inputs.InvalidInput) as refused:
        inputs.validated(workflow, {"limit": "many", "inbx": "x"})

    assert list(refused.value.errors) == ["inbx", "inbox", "limit"]
    assert refused.value.errors["inbox"] == "is required"
    assert refused.value.errors["inbx"].startswith(
        "is no field of this workflow (fields: inbox, limit"
    )


@pytest.mark.parametrize("data", [None, [], "inbox", 4])
def test_only_an_object_is_an_input(workflow: type[Workflow], data: Any) -> None:
    with pytest.raises(inputs.InvalidInput, match="expected an object with fields"):
        inputs.validated(workflow, data)


def kept_or_refused(workflow: type[Workflow], data: dict[str, Any]) -> Any:
    try:
        return inputs.validated(workflow, data)
    except inputs.InvalidInput as refused:
        return "; ".join(refused.errors.values())


PLAIN = st.none() | st.booleans() | st.text() | st.integers() | st.floats() | st.binary()


@given(
    st.dictionaries(
        st.sampled_from(list(Everything.__annotations__)) | st.text(),
        PLAIN | st.lists(PLAIN) | st.dictionaries(st.text(), PLAIN),
    )
)
def test_whatever_comes_in_the_answer_is_json_or_a_sentence(data: dict[str, Any]) -> None:
    class Anything(Workflow):
        name, version = "anything", 1
        Input = Everything

    answer = kept_or_refused(Anything, {"inbox": "x", **data})

    assert canonical.loads(canonical.dumps(answer)) == answer


def test_fields_say_what_a_start_form_needs_to_know(workflow: type[Workflow]) -> None:
    fields = {field.name: field for field in inputs.fields_of(workflow)}

    assert list(fields) == list(Everything.__annotations__)
    assert fields["inbox"] == inputs.Field(
        name="inbox", type="text", required=True, help="The folder to sort."
    )
    assert fields["judge"].choices == ("scoring", "model")
    assert fields["tags"].items == "text"
    assert fields["since"].nullable
    assert not fields["since"].required


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("inbox", "a b", "a b"),
        ("limit", "7", 7),
        ("limit", "seven", "seven"),
        ("limit", "", 100),
        ("share", "0.25", 0.25),
        ("dry", "on", True),
        ("dry", "maybe", "maybe"),
        ("tags", "a\r\n\r\nb", ["a", "b"]),
        ("sizes", "[1, 2]", [1, 2]),
        ("sizes", "", None),
        ("options", '{"a": 1}', {"a": 1}),
        ("judge", "model", "model"),
        ("since", "2026-01-31", "2026-01-31"),
    ],
)
def test_what_a_person_types_becomes_a_value_or_stays_to_be_refused(
    workflow: type[Workflow], field: str, text: str, value: Any
) -> None:
    fields = {field.name: field for field in inputs.fields_of(workflow)}

    assert inputs.parsed(fields[field], text) == value


def test_a_workflow_without_input_takes_nothing() -> None:
    class Plain(Workflow):
        name, version = "plain", 1

    assert inputs.fields_of(Plain) == ()
    assert inputs.validated(Plain, {}) == {}
    with pytest.raises(inputs.InvalidInput, match=r"is no field of this workflow \(fields: none\)"):
        inputs.validated(Plain, {"inbox": "x"})
