"""Idempotency keys: the same call, the same key, on every machine and for ever."""

import base64
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.environment import ROOT
from runs.rules import canonical, keys

pytestmark = pytest.mark.one_database

GOLDEN = Path(__file__).parent / "golden_keys.json"
CALLS: list[dict[str, Any]] = json.loads(GOLDEN.read_text("utf-8"))

PRINT_KEYS = """
import json, sys
from runs.rules import canonical, keys
calls = json.load(open(sys.argv[1], encoding="utf-8"))
turned = lambda value: dict(reversed(value.items())) if isinstance(value, dict) else value
print(json.dumps([keys.idempotency_key(
    run_id=call["run_id"], scope=call["scope"], effect=call["effect"], resource=call["resource"],
    request_text=canonical.dumps(turned(call["request"]))) for call in calls]))
"""


def key_of(call: dict[str, Any], **changed: Any) -> str:
    said = {**call, **changed}
    return keys.idempotency_key(
        run_id=UUID(said["run_id"]),
        scope=said["scope"],
        effect=said["effect"],
        resource=said["resource"],
        request_text=canonical.dumps(said["request"]),
    )


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call["why"])
def test_i4_a_call_has_the_key_that_it_had_in_every_release(call: dict[str, Any]) -> None:
    assert key_of(call) == call["key"]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call["why"])
def test_i4_a_key_is_exactly_what_is_written_down_of_it(call: dict[str, Any]) -> None:
    request = hashlib.sha256(canonical.dumps(call["request"]).encode()).hexdigest()
    parts = ["milepost.call.1", call["run_id"], call["scope"], call["effect"]]
    text = json.dumps(
        [*parts, str(call["resource"]), request], separators=(",", ":"), ensure_ascii=False
    )
    digest = hashlib.sha256(text.encode()).digest()

    assert call["key"] == "mp_" + base64.b32encode(digest).decode().lower().strip("=")


@pytest.mark.parametrize(
    ("time_zone", "hash_seed"), [("UTC", "1"), ("Asia/Kathmandu", "2"), ("America/St_Johns", "77")]
)
def test_i4_keys_are_the_same_in_every_time_zone_and_dict_order(
    time_zone: str, hash_seed: str
) -> None:
    told = {**os.environ, "TZ": time_zone, "PYTHONHASHSEED": hash_seed, "LC_ALL": "C"}

    printed = subprocess.run(
        [sys.executable, "-c", PRINT_KEYS, str(GOLDEN)],
        cwd=ROOT, env=told, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip

    assert json.loads(printed) == [call["key"] for call in CALLS]


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("run_id", "00000000-0000-0000-0000-000000000009"),
        ("scope", "purge2"),
        ("effect", "mailbox.move"),
        ("resource", "m-2"),
        ("request", {"id": "m-2"}),
    ],
)
def test_i4_each_part_of_a_call_changes_its_key(part: str, other: Any) -> None:
    call = CALLS[0]

    assert key_of(call, **{part: other}) != key_of(call)


def test_parts_cannot_be_shifted_into_each_other() -> None:
    call = CALLS[0]

    assert key_of(call, scope="a", effect="b.c") != key_of(call, scope="a.b", effect="c")


@given(run_id=st.uuids(), scope=st.text("abc_", min_size=1), resource=st.integers())
def test_a_key_fits_where_receivers_keep_keys(run_id: UUID, scope: str, resource: int) -> None:
    key = keys.idempotency_key(
        run_id=run_id, scope=scope, effect="a.b", resource=resource, request_text="{}"
    )

    assert key.startswith("mp_")
    assert len(key) <= 64
    assert key.replace("_", "").isalnum()


def test_a_number_names_the_same_resource_as_its_digits() -> None:
    assert key_of(CALLS[0], resource=42) == key_of(CALLS[0], resource="42")


@pytest.mark.parametrize("resource", ["", "x" * 201, "a\nb", "\ud800", True, None, 1.5])
def test_what_cannot_be_stored_and_shown_names_no_resource(resource: Any) -> None:
    with pytest.raises(keys.BadResource):
        key_of(CALLS[0], resource=resource)


def test_r12_everything_that_can_change_a_judgement_changes_its_hash() -> None:
    asked: dict[str, Any] = {
        "question": "is it spam?",
        "judge": "model",
        "parameters": {"model": "small", "prompt": "Say yes or no.", "temperature": 0},
        "input": {"text": "hello"},
        "sample": 0,
    }
    others: list[dict[str, Any]] = [
        {"question": "is it ham?"},
        {"judge": "scoring"},
        {"parameters": {**asked["parameters"], "prompt": "Say no or yes."}},
        {"input": {"text": "hello!"}},
        {"sample": 1},
    ]

    hashes = {keys.judgement_hash(**asked | other) for other in [*others, {}]}

    assert len(hashes) == 1 + len(others)
    assert keys.judgement_hash(**asked) == keys.judgement_hash(**asked)
