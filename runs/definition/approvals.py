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
        object.__setattr__(self, "all_of", names("Approval: all_of", self.all_of))
        self._require_people()
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

    def _require_people(self) -> None:
        if type(self.quorum) is not int or not 1 <= self.quorum <= LARGEST_QUORUM:
            raise DeclarationError(
                f"Approval: quorum is {self.quorum!r}.",
                hint=f"Say how many people have to agree: a whole number from 1 to {LARGEST_QUORUM}.",
            )
        if len(set(self.all_of)) != len(self.all_of):
            raise DeclarationError(
                f"Approval: all_of names a group twice: {list(self.all_of)!r}.",
                hint="Name each group once; quorum= says how many people have to agree in all.",
            )
        for name, value in (("four_eyes", self.four_eyes), ("comment", self.comment)):
            if value is not None and not isinstance(value, bool):
                raise DeclarationError(
                    f"Approval: {name} is {value!r}.", hint="Write True or False, or leave it out."
                )


@dataclass(frozen=True, slots=True)
class Waived:
    """Irreversible calls of this step need no approval, for a reason that the certificate shows."""

    reason: str

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str) or not self.reason.strip():
            raise DeclarationError(
                "Waived gives no reason.", hint='Write why no person needs to agree: Waived("...").'
            )
