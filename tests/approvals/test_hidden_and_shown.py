"""What is taken out of sight, what is not, and which answer evidence speaks for: without a database."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rules import finding
from approvals.rules.asked import asked_of
from approvals.rules.columns import said
from approvals.rules.ground import moved
from approvals.rules.sight import Folded, refusal
from approvals.rules.supports import supported
from runs.rules import asks, canonical, redaction

names = st.sampled_from(["iban", "card", "number", "to", "items"])
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab 1", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(values)
def test_what_holds_no_secret_and_declares_nothing_is_shown_as_it_is(value: Any) -> None:
    assert redaction.shown(value) == redaction.Shown(value=value, hidden=())


@given(values, st.lists(names, min_size=1, max_size=3))
def test_nothing_stands_at_a_declared_place_any_more_and_all_else_stays(
    value: Any, at: list[str]
) -> None:
    secret = {"secret place": "4111"}
    placed: Any = secret
    for name in reversed(at):
        placed = {name: placed, "beside": value}

    found = redaction.shown(placed, paths=[".".join(at)])

    assert "4111" not in canonical.dumps(found.value)
    assert canonical.dumps(value) in canonical.dumps(found.value)
    assert found.hidden == (".".join(at),)


strange = st.text('aÄß"\\\n\u202e;[1 ', max_size=6)
evidences: st.SearchStrategy[Any] = st.recursive(
    st.integers(-99, 99) | strange,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strange, inner, max_size=3),
    max_leaves=8,
)


@given(evidences, strange, st.data())
def test_what_is_shown_of_a_call_is_found_and_few_others_are_read_for_it(
    evidence: Any, resource: str, data: st.DataObject
) -> None:
    cells = evidence.values() if isinstance(evidence, dict) else [evidence]
    shown = [*finding._texts(evidence), resource, *map(said, cells)]
    whole = data.draw(st.sampled_from([each for each in shown if each] or ["a"]))
    start = data.draw(st.integers(0, len(whole) - 1))
    text = whole[start : data.draw(st.integers(start + 1, len(whole)))]

    found = finding.names(text, resource=resource, request={}, evidence=evidence)
    forms = finding.stored_forms(text)

    stored = f"{resource}\n{{}}\n{canonical.dumps(evidence)}".lower()
    assert found == any(text.lower() in each.lower() for each in [*shown, "{}"])
    assert not forms or any(form.lower() in stored for form in forms)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefgh12345",
        "see https://ann:hunter2@example.org/x",
        "sk-abcdefghijklmnop1234",
        "AKIAABCDEFGHIJKLMNOP",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
        "password=correct-horse",
    ],
)
def test_known_shapes_are_taken_out_of_any_text(text: str) -> None:
    found = redaction.shown({"a": [text]})

    assert redaction.HIDDEN in found.value["a"][0]
    assert found.hidden == ("a.0",)


@pytest.mark.parametrize(
    "text",
    [
        "mp_2s4pyrxoomy3le3qafwdrwiqakiar5qkj3xg5wdyfr66pnx6an3q",
        "desk-reservation-for-the-third-floor",
    ],
)
def test_what_is_part_of_a_longer_word_is_no_secret(text: str) -> None:
    assert redaction.shown({"a": text}).value == {"a": text}


@pytest.mark.parametrize(
    ("value", "text", "safe"),
    [
        ("s3cr3tpw", "xs3cr3tpwx", "x[secret pin]x"),
        ("4711", "PIN=4711, again 4711.", "PIN=[secret pin], again [secret pin]."),
        ("4711", "order 147110", "order 147110"),
        ("pa$$", "it is (pa$$)", "it is ([secret pin])"),
        ("abc", "abc", "abc"),
    ],
)
def test_a_known_secret_is_taken_out_and_a_short_one_as_a_word(
    value: str, text: str, safe: str
) -> None:
    """R11"""
    assert redaction.replace_known(text, secrets={"pin": value}) == safe


@given(values)
def test_a_body_without_secrets_is_written_to_the_audit_as_it_is(value: Any) -> None:
    text = canonical.dumps({"n": value})

    assert redaction.shown_text(text) is text


def reconcile(**evidence: Any) -> Any:
    call = {"effect": "a.b", "resource": "r", "key": "mp_k", "sends": 1, "state": "ambiguous"}
    asked = asks.reconcile(step="s", call=call, why="w", evidence=evidence, irreversible=False)
    return asked_of(canonical.dumps(asked))


@pytest.mark.parametrize(
    ("evidence", "option"),
    [
        ({}, None),
        ({"probe": "found"}, "happened"),
        ({"late_answers": [{"id": "1"}]}, "happened"),
        ({"probe": "not found"}, None),
        ({"probe": "not found", "probe_settled": True}, "did_not"),
        ({"probe": "not found", "probe_settled": True, "late_answers": [{}]}, None),
        ({"probe": "failed: away"}, None),
    ],
)
def test_evidence_speaks_for_one_option_or_for_none(
    evidence: dict[str, Any], option: str | None
) -> None:
    found = supported(reconcile(**evidence))

    assert (found.option if found else None) == option


def test_what_a_receiver_says_when_it_is_asked_again_hides_the_same_places() -> None:
    call = {"effect": "a.b", "resource": "r", "key": "mp_k", "sends": 1, "state": "ambiguous"}
    said = {
        "receiver_says": {"card": {"number": "4111"}},
        "late_answers": [{"card": {"number": "4111"}}],
    }

    asked = asks.reconcile(
        step="s", call=call, why="w", evidence=said, irreversible=False, redact=["card.number"]
    )

    assert "4111" not in canonical.dumps(
        redaction.shown(asked["evidence"], paths=asked["redact"]).value
    )


def test_only_what_is_shown_in_part_and_not_had_whole_is_refused() -> None:
    part = [Folded(what="evidence", shown="16 KB", size="20 KB")]

    assert refusal([], has_whole=False) == ""
    assert refusal(part, has_whole=True) == ""
    assert "evidence: 16 KB of 20 KB shown" in refusal(part, has_whole=False)


def test_what_has_moved_is_said_with_before_and_now() -> None:
    before = {"its calls by state": {"ambiguous": 1}, "late": 0, "same": "x"}
    now = {"its calls by state": {"confirmed": 1}, "late": 2, "same": "x"}

    said = [(one.what, one.before, one.now) for one in moved(before, now)]

    assert said == [("its calls by state", "1 ambiguous", "1 confirmed"), ("late", "0", "2")]
