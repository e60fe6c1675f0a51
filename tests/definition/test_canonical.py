"""Canonical JSON: one text for one value, and a clear no to what has none."""

import json
import math
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from runs.definition import Secret
from runs.rules import canonical

pytestmark = pytest.mark.one_database

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
# One key is reserved, and invented input finds it now and then.
KEYS = TEXTS.filter(lambda text: text != canonical.SECRET_MARK)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(min_value=-canonical.LARGEST, max_value=canonical.LARGEST)
VALUES = st.recursive(
    st.none() | st.booleans() | WHOLE | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


def as_rfc_8785_says(value: Any) -> str:
    """The standard's text, written down once more from the standard alone."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value)
        case float():
            return as_ecmascript_prints(value)
        case str():
            return '"' + "".join(escaped(character) for character in value) + '"'
        case list():
            return "[" + ",".join(map(as_rfc_8785_says, value)) + "]"
    members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
    return "{" + ",".join(f"{as_rfc_8785_says(k)}:{as_rfc_8785_says(v)}" for k, v in members) + "}"


def escaped(character: str) -> str:
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    if character in short:
        return short[character]
    if character in '"\\':
        return f"\\{character}"
    return f"\\u{ord(character):04x}" if ord(character) < 0x20 else character


def as_ecmascript_prints(value: float) -> str:
    """ECMA-262, Number::toString, on the shortest digits that name the number."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    figures, k = "".join(map(str, digits)), len(digits)
    n = int(exponent) + k
    if k <= n <= 21:
        text = figures + "0" * (n - k)
    elif 0 < n <= 21:
        text = f"{figures[:n]}.{figures[n:]}"
    elif -6 < n <= 0:
        text = f"0.{'0' * -n}{figures}"
    else:
        mantissa = figures if k == 1 else f"{figures[0]}.{figures[1:]}"
        text = f"{mantissa}e{n - 1:+d}"
    return f"{'-' if sign else ''}{text}"


@given(VALUES)
def test_any_value_has_the_text_that_the_standard_gives_it(value: Any) -> None:
    text = canonical.dumps(value)

    assert text == as_rfc_8785_says(value)
    assert text == rfc8785.dumps(value).decode()


@given(VALUES)
def test_what_is_read_back_has_the_same_text_again(value: Any) -> None:
    text = canonical.dumps(value)

    assert canonical.dumps(canonical.loads(text)) == text


@given(st.dictionaries(KEYS, VALUES), st.randoms())
def test_the_order_of_a_dict_changes_nothing(value: dict[str, Any], chance: Any) -> None:
    members = list(value.items())
    chance.shuffle(members)

    assert canonical.dumps(dict(members)) == canonical.dumps(value)


def test_the_standards_own_example_comes_out_to_the_letter() -> None:
    value = json.loads(
        '{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        '"string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",'
        '"literals": [null, true, false]}'
    )

    assert canonical.dumps(value) == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_beyond_the_basic_plane_are_ordered_by_their_utf_16_units() -> None:
    value = {"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3}

    assert canonical.dumps(value) == '{"\u20ac":3,"\U0001f600":2,"\ufb33":1}'


@pytest.mark.parametrize(
    ("value", "path", "advice"),
    [
        ({"a": [1, {"b": math.nan}]}, "$.a[1].b", "null"),
        ({"a": math.inf}, "$.a", "null"),
        (["ok", "\ud800"], "$[1]", "surrogate"),
        ({"\udfff": 1}, "$['\\udfff']", "surrogate"),
        ({"a": {7: "x"}}, "$.a[7]", "no string"),
        ({"price": Decimal("1.50")}, "$.price", "as a string"),
        ({"at": datetime(2026, 1, 1, tzinfo=UTC)}, "$.at", "isoformat()"),
        ({"on": date(2026, 1, 1)}, "$.on", "isoformat()"),
        ({"for": timedelta(1)}, "$.for", "total_seconds()"),
        ({"raw mail": b"\xff"}, "$['raw mail']", "base64"),
        ({"id": UUID(int=1)}, "$.id", "str()"),
        ({"tags": {"b", "a"}}, "$.tags", "sorted list"),
        ([2**53], "$[0]", "as a string"),
        ([-(2**53)], "$[0]", "as a string"),
        (object(), "$", "plain dicts"),
    ],
)
def test_what_is_no_json_is_refused_with_its_path_and_what_to_write(
    value: Any, path: str, advice: str
) -> None:
    with pytest.raises(canonical.NotCanonical) as refused:
        canonical.dumps(value)

    assert str(refused.value).startswith(f"{path}: ")
    assert advice in str(refused.value)
    assert str(refused.value).isprintable()


def test_what_is_nested_without_end_is_refused_instead_of_breaking_the_stack() -> None:
    endless: list[Any] = []
    endless.append(endless)

    with pytest.raises(canonical.NotCanonical, match="nested deeper"):
        canonical.dumps(endless)


def test_a_secret_is_written_by_name_and_filled_in_after_reading() -> None:
    request = {"to": "a@b", "login": [Secret("smtp_password")], "share": 1.0}

    text = canonical.dumps(request)
    read = canonical.loads(text)

    assert text == '{"login":[{"$secret":"smtp_password"}],"share":1,"to":"a@b"}'
    assert canonical.secrets_in(read) == {"smtp_password"}
    assert canonical.with_secrets(read, {"smtp_password": "hunter2"})["login"] == ["hunter2"]


def test_data_cannot_pose_as_a_secret() -> None:
    mail = {"body": {"$secret": "smtp_password"}}

    with pytest.raises(
        canonical.NotCanonical, match=re.escape("$.body['$secret']: this key is reserved")
    ):
        canonical.dumps(mail)


def test_a_digest_is_of_the_text_alone() -> None:
    assert canonical.digest("abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_a_text_with_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(canonical.NotCanonical, match="NaN"):
        canonical.loads('{"a": NaN}')
