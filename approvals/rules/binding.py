"""What the event of an answer binds in the run's chain: all that the vote says, strikes and claims."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runs.rules import canonical

Row = Mapping[str, Any]

# What never changes of a row from the answer on; times are text, as bundles write them.
VOTE = (
    "decision_id", "by", "on_behalf_of", "groups", "option", "fields", "comment", "digest",
    "struck", "alone", "break_glass", "door", "address", "at",
)  # fmt: skip
STRIKE = ("ordinal", "struck", "by", "at", "seq")
CLAIM = ("by", "at", "until")
BOUND = ("vote_digest", "strikes_digest", "claims_digest")


def bound(*, vote: Row, strikes: Iterable[Row], claims: Iterable[Row]) -> dict[str, str]:
    """The digests, by what they stand under in the event's body; rows in the order of their ids."""
    return dict(
        zip(BOUND, (vote_digest(vote), strikes_digest(strikes), claims_digest(claims)), strict=True)
    )


def vote_digest(vote: Row) -> str:
    return _digest([vote], VOTE)


def strikes_digest(rows: Iterable[Row]) -> str:
    return _digest(rows, STRIKE)


def claims_digest(rows: Iterable[Row]) -> str:
    return _digest(rows, CLAIM)


def _digest(rows: Iterable[Row], names: Sequence[str]) -> str:
    return canonical.digest(canonical.dumps([{name: row[name] for name in names} for row in rows]))
