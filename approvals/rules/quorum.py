"""How many have to agree and who of them, and what the votes given so far come to."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """`given` of `needed` votes agree; `missing` are the groups that nobody of them stands for."""

    needed: int
    given: int
    missing: tuple[str, ...]

    @property
    def more(self) -> int:
        """How many votes are still needed, at the least."""
        return max(self.needed - self.given, len(self.missing))

    @property
    def complete(self) -> bool:
        return self.more == 0

    @property
    def takes_several(self) -> bool:
        return self.needed > 1

    @property
    def still(self) -> list[str]:
        """Who is still needed, in words."""
        found = [f"somebody of “{group}”" for group in self.missing]
        if others := self.more - len(found):
            more = " more" if found or self.given else ""
            found.append(f"one{more} person" if others == 1 else f"{others}{more} people")
        return found


def tally(*, quorum: int, all_of: Collection[str], votes: Sequence[frozenset[str]]) -> Tally:
    """What votes that agree amount to; each is given by the groups that its voter stands for."""
    stands = covered(all_of, votes)
    return Tally(
        needed=max(quorum, len(set(all_of))),
        given=len(votes),
        missing=tuple(group for group in sorted(set(all_of)) if group not in stands),
    )


def covered(all_of: Collection[str], votes: Sequence[frozenset[str]]) -> Mapping[str, int]:
    """Which vote stands for which group, for as many groups as can be; nobody stands for two."""
    holder: dict[str, int] = {}
    for vote in range(len(votes)):
        _place(vote, votes, sorted(set(all_of)), holder, tried=set())
    return holder


def _place(
    vote: int,
    votes: Sequence[frozenset[str]],
    all_of: Sequence[str],
    holder: dict[str, int],
    *,
    tried: set[str],
) -> bool:
    """Give this vote a group, moving others to another of theirs where that makes room."""
    for group in all_of:
        if group not in votes[vote] or group in tried:
            continue
        tried.add(group)
        if group not in holder or _place(holder[group], votes, all_of, holder, tried=tried):
            holder[group] = vote
            return True
    return False
