"""Who has to agree before a step does what cannot be undone, or why nobody has to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

from runs.definition.demands import names, require_positive
from runs.definition.places import DeclarationError
from runs.definition.timing import Timing, require_timing

OnExpiry = Literal["stay", "cancel", "fail"]
LARGEST_QUORUM = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Calls planned under the fact `of` are made only after a person of `groups` approved them.

    `quorum` people have to agree, and somebody of each group of `all_of` among them, nobody counted
    for two. Whoever started the run may not (`four_eyes`): left out, this holds for what cannot be
    undone. `comment` asks for words with every answer, else only with what cannot be undone.
    """

    of: str
    groups: Sequence[str] = ()
    expires: timedelta | None = None
    on_expiry: OnExpiry = "stay"
    quorum: int = 1
    all_of: Sequence[str] = ()
    four_eyes: bool | None = None
    comment: bool = False
    timing: Timing | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", names("Approval: groups", self.groups))
        all_of = agreement("Approval", quorum=self.quorum, all_of=self.all_of)
        object.__setattr__(self, "all_of", all_of)
        self._require_words()
        if not isinstance(self.of, str) or not self.of:
            raise DeclarationError(
                f"Approval: of is {self.of!r}.",
                hint='Name the planned fact, such as of="deletions".',
            )
        if self.on_expiry not in get_args(OnExpiry):
            raise DeclarationError(
                f"Approval: on_expiry is {self.on_expiry!r}.",
                hint='Write "stay", "cancel" or "fail"; silence never approves.',
            )
        require_timing("Approval", self.timing)
        if self.expires is not None:
            require_positive("Approval: expires", self.expires)
        elif self.on_expiry != "stay":
            raise DeclarationError(
                f"Approval: on_expiry={self.on_expiry!r} without expires never happens.",
                hint="Add expires=timedelta(...), or leave on_expiry out.",
            )

    def _require_words(self) -> None:
        for name, value in (("four_eyes", self.four_eyes), ("comment", self.comment)):
            if value is not None and not isinstance(value, bool):
                raise DeclarationError(
                    f"Approval: {name} is {value!r}.", hint="Write True or False, or leave it out."
                )


def agreement(subject: str, *, quorum: object, all_of: object) -> tuple[str, ...]:
    """The groups of `all_of`, once they and `quorum` say who has to agree."""
    if type(quorum) is not int or not 1 <= quorum <= LARGEST_QUORUM:
        raise DeclarationError(
            f"{subject}: quorum is {quorum!r}.",
            hint=f"Say how many people have to agree: a whole number from 1 to {LARGEST_QUORUM}.",
        )
    groups = names(f"{subject}: all_of", all_of)
    if len(set(groups)) != len(groups):
        raise DeclarationError(
            f"{subject}: all_of names a group twice: {list(groups)!r}.",
            hint="Name each group once; quorum= says how many people have to agree in all.",
        )
    return groups


@dataclass(frozen=True, slots=True)
class Waived:
    """Irreversible calls of this step need no approval, for a reason that the certificate shows."""

    reason: str

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str) or not self.reason.strip():
            raise DeclarationError(
                "Waived gives no reason.", hint='Write why no person needs to agree: Waived("...").'
            )
