"""What votes come to, without a database: how many, of which groups, nobody counted for two."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.rules.case import Cast
from approvals.rules.demands import confirms
from approvals.rules.quorum import covered, tally
from tests.approvals.saying import a_vote

pytestmark = pytest.mark.one_database
GROUPS = ("finance", "legal", "safety")
votes_of_groups = st.lists(st.frozensets(st.sampled_from(GROUPS)), max_size=5)


@given(all_of=st.sets(st.sampled_from(GROUPS)), votes=votes_of_groups)
def test_as_many_groups_are_stood_for_as_any_way_of_counting_finds(
    all_of: set[str], votes: list[frozenset[str]]
) -> None:
    # Those who stand for nothing make room, so that each group may also be left to nobody.
    nobody: list[frozenset[str]] = [frozenset()] * len(all_of)
    best = max(
        sum(group in vote for group, vote in zip(sorted(all_of), chosen, strict=True))
        for chosen in permutations([*votes, *nobody], len(all_of))
    )

    found = covered(all_of, votes)

    assert len(set(found.values())) == len(found)
    assert all(group in votes[vote] for group, vote in found.items())
    assert len(found) == best


@given(quorum=st.integers(1, 4), all_of=st.sets(st.sampled_from(GROUPS)), votes=votes_of_groups)
def test_it_is_complete_when_enough_agree_and_every_group_has_somebody(
    quorum: int, all_of: set[str], votes: list[frozenset[str]]
) -> None:
    found = tally(quorum=quorum, all_of=all_of, votes=votes)

    enough = len(votes) >= max(quorum, len(all_of))
    assert found.complete == (enough and len(covered(all_of, votes)) == len(all_of))
    assert found.complete == (found.still == [])


def test_who_is_in_two_groups_stands_for_the_one_that_needs_it() -> None:
    both, one = frozenset({"finance", "legal"}), frozenset({"finance"})

    assert tally(quorum=1, all_of=("finance", "legal"), votes=[both, one]).complete
    assert not tally(quorum=1, all_of=("finance", "legal"), votes=[both]).complete


@pytest.mark.parametrize(
    ("quorum", "all_of", "votes", "still"),
    [
        (2, (), [], ["2 people"]),
        (2, (), [frozenset()], ["one more person"]),
        (3, ("legal",), [frozenset()], ["somebody of “legal”", "one more person"]),
        (1, ("finance", "legal"), [frozenset({"legal"})], ["somebody of “finance”"]),
    ],
)
def test_who_is_still_needed_is_said_in_words(
    quorum: int, all_of: tuple[str, ...], votes: list[frozenset[str]], still: list[str]
) -> None:
    assert tally(quorum=quorum, all_of=all_of, votes=votes).still == still


@pytest.mark.parametrize(
    "other", [{"option": "reject"}, {"digest": "d2"}, {"fields": '{"amount":2}'}]
)
def test_only_votes_for_the_same_answer_on_the_same_bytes_add_up(other: dict[str, str]) -> None:
    """R16: a vote binds a digest."""
    first, second = a_vote("ann"), a_vote("ben", **other)

    assert first.says_the_same_as(a_vote("ben"))
    assert not first.says_the_same_as(second)
    assert isinstance(second, Cast)


@pytest.mark.parametrize(
    ("typed", "enough"),
    [
        ("r-8812", True),
        ("  r-8812 ", True),
        ("0f9e8d", True),
        ("abcdef012345", True),
        ("ABCDEF012345", True),
        ("", False),
        ("8812", False),
        ("abcdef", False),
        ("abcdef01234x", False),
        ("order-8812", False),
    ],
)
def test_a_confirmation_is_the_end_of_a_name_or_enough_of_the_digest(
    typed: str, enough: bool
) -> None:
    names = ("order-8812", "0190-0f9e8d")

    assert confirms(typed, names=names, digest="abcdef0123456789") is enough
