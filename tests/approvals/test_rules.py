"""What is true of decisions, without a database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rules import columns, schema, states, unseen
from approvals.rules.asked import asked_of, digest_of
from approvals.rules.case import Case, who_may
from approvals.rules.door import refusal
from runs.rules import canonical, questions
from runs.rules.policy import Actor, Verb
from runs.rules.states import DecisionState

pytestmark = pytest.mark.one_database


def an_actor(*permissions: str, groups: tuple[str, ...] = (), administrator: bool = False) -> Actor:
    return Actor(
        kind="user",
        name="mara",
        permissions=frozenset(permissions),
        groups=frozenset(groups),
        administrator=administrator,
    )


def a_case(*groups: str) -> Case:
    ask = questions.question(
        text="Go on?", options=("yes",), fields=None, evidence={"a": 1}, groups=groups
    )
    return Case(groups=frozenset(groups), asked=asked_of(canonical.dumps(ask)))


@pytest.mark.parametrize("before", DecisionState)
@pytest.mark.parametrize("after", DecisionState)
def test_a_decision_leaves_open_once_and_nothing_else(
    before: DecisionState, after: DecisionState
) -> None:
    allowed = before is DecisionState.OPEN and after is not DecisionState.OPEN

    assert (after in states.MOVES[before]) is allowed


def test_the_door_asks_for_permission_then_group_then_sight() -> None:
    case = a_case("approvers")
    option = case.asked.option("yes")
    missing = [
        refusal(an_actor(), case, option),
        refusal(an_actor(Verb.DECIDE), case, option),
        refusal(an_actor(Verb.DECIDE, groups=("approvers",)), case, option),
        refusal(an_actor(Verb.DECIDE, Verb.VIEW_PAYLOADS, groups=("approvers",)), case, option),
        refusal(an_actor(administrator=True), case, option),
    ]

    assert [found.missing if found else "" for found in missing] == [
        "permission",
        "group",
        "payloads",
        "",
        "",
    ]


def test_who_may_is_said_in_words() -> None:
    assert who_may(frozenset()) == "Whoever has the permission “decide” may answer."
    assert "“a” or “b”" in who_may(frozenset({"b", "a"}))


def test_the_digest_of_a_question_covers_its_evidence() -> None:
    texts = [
        canonical.dumps(
            questions.question(text="Go?", options=("yes",), fields=None, evidence=found, groups=())
        )
        for found in ({"a": 1}, {"a": 2})
    ]

    assert digest_of(texts[0]) != digest_of(texts[1])


@given(st.text())
def test_nothing_unseen_is_left_and_nothing_seen_is_lost(text: str) -> None:
    pieces = unseen.pieces_of(text)

    plain = "".join(piece.text for piece in pieces if not piece.name)
    back = [
        chr(int(piece.text.partition("+")[2], 16)) if piece.name else piece.text for piece in pieces
    ]
    assert "".join(back) == text
    assert not [
        c for c in plain if c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x00\x1b"
    ]


@pytest.mark.parametrize(
    "character", ["\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\u2800", "\U000e0041"]
)
def test_a_character_that_hides_or_turns_is_named(character: str) -> None:
    assert [piece.text for piece in unseen.pieces_of(f"a{character}b")] == [
        "a",
        f"U+{ord(character):04X}",
        "b",
    ]


def test_columns_are_those_that_the_evidence_names() -> None:
    assert columns.columns_of([{"b": 1}, {"a": 2, "b": 3}, "plain"]) == ("b", "a", "evidence")
    assert [cell.text for cell in columns.cells_of({"a": ["x", 2]}, ("a", "b"))] == ["x; 2", ""]


def test_a_long_cell_is_cut_and_says_of_how_much() -> None:
    cell = columns.cell_of("x" * 900)

    assert (len(cell.text), cell.length, cell.cut) == (columns.SHOWN, 900, True)


@pytest.mark.parametrize(
    ("declared", "given_", "found"),
    [
        ("str", " x ", "x"),
        ("int", "-3", -3),
        ("float", "1.5", 1.5),
        ("bool", "on", True),
        ("bool", None, False),
        ("date", "2026-01-31", "2026-01-31"),
        ({"type": "str", "choices": ["a", "b"]}, "b", "b"),
        ({"type": "int", "choices": [1, 2]}, "2", 2),
        ({"type": "str", "required": False}, "", None),
    ],
)
def test_a_field_takes_what_fits_its_type(declared: object, given_: object, found: object) -> None:
    assert schema.validated({"name": declared}, {"name": given_}) == {"name": found}


@pytest.mark.parametrize(
    ("declared", "given_"),
    [
        ("str", " "),
        ("str", 7),
        ("str", "x" * 10_001),
        ("int", "1.5"),
        ("int", str(2**53)),
        ("float", "nan"),
        ("float", "inf"),
        ("bool", "maybe"),
        ("date", "31.1.2026"),
        ({"type": "str", "choices": ["a"]}, "b"),
    ],
)
def test_a_field_refuses_what_does_not_fit(declared: object, given_: object) -> None:
    with pytest.raises(schema.FieldsRefused):
        schema.validated({"name": declared}, {"name": given_})
