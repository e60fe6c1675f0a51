"""Signatures of webhooks, as Standard Webhooks describes them, and secrets that are sealed."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.rules import sealing, signatures
from runs.rules.signatures import BadSignature, headers, new_secret, verified

pytestmark = pytest.mark.one_database

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
BODY = b'{"title": "a"}'


def test_the_example_of_standard_webhooks_comes_out() -> None:
    signed = headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        b'{"test": 2432232314}',
        secrets=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        now=datetime.fromtimestamp(1614265330, tz=UTC),
    )

    assert signed["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_while_a_secret_is_rotated_a_receiver_may_know_either() -> None:
    old, new = new_secret(), new_secret()

    signed = headers("m-1", BODY, secrets=[new, old], now=NOW)

    for known in ([old], [new], [old, new]):
        assert verified(signed, BODY, secrets=known, now=NOW) == "m-1"


@pytest.mark.parametrize(
    ("change", "body", "late"),
    [
        ({}, b'{"title": "b"}', timedelta(0)),
        ({"webhook-id": "m-2"}, BODY, timedelta(0)),
        ({"webhook-timestamp": str(int(NOW.timestamp()) + 1)}, BODY, timedelta(0)),
        ({"webhook-timestamp": "soon"}, BODY, timedelta(0)),
        ({"webhook-signature": ""}, BODY, timedelta(0)),
        ({"webhook-signature": "v1,AAAA"}, BODY, timedelta(0)),
        ({}, BODY, timedelta(minutes=6)),
        ({}, BODY, timedelta(minutes=-6)),
    ],
)
def test_what_was_altered_or_is_old_is_refused(
    change: dict[str, str], body: bytes, late: timedelta
) -> None:
    secret = new_secret()
    signed = headers("m-1", BODY, secrets=[secret], now=NOW)

    with pytest.raises(BadSignature):
        verified(signed | change, body, secrets=[secret], now=NOW + late)


def test_another_secret_signs_otherwise() -> None:
    signed = headers("m-1", BODY, secrets=[new_secret()], now=NOW)

    with pytest.raises(BadSignature):
        verified(signed, BODY, secrets=[new_secret()], now=NOW)


def test_what_is_sealed_is_not_there_in_any_clothes_and_opens_under_a_key_it_was_sealed_with() -> (
    None
):
    sealed = sealing.seal("canary-4711", keys=["k" * 40])

    assert "canary" not in sealed
    assert sealed != sealing.seal("canary-4711", keys=["k" * 40])
    assert sealing.unseal(sealed, keys=["new" * 20, "k" * 40]) == "canary-4711"
    with pytest.raises(sealing.CannotUnseal):
        sealing.unseal(sealed, keys=["new" * 20])
    assert signatures.new_secret() != signatures.new_secret()
