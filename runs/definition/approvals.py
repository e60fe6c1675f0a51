"""Who has to agree before a step does what cannot be undone, or why nobody has to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

from runs.definition.demands import names, require_positive
from runs.definition.places import DeclarationError

OnExpiry = Literal["stay", "cancel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Calls planned under the fact `of` are made only after a person of `groups` approved them."""

    of: str
    groups: Sequence[str] = ()
    expires: timedelta | None = None
    on_expiry: OnExpiry = "stay"

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", names("Approval: groups", self.groups))
        if not isinstance(self.of, str) or not self.of:
            raise DeclarationError(
                f"Approval: of is {self.of!r}.",
                hint='Name the planned fact, such as of="deletions".',
            )
        if self.on_expiry not in get_args(OnExpiry):
            raise DeclarationError(
                f"Approval: on_expiry is {self.on_expiry!r}.",
                hint='Write "stay" or "cancel"; silence never approves.',
            )
        if self.expires is not None:
            require_positive("Approval: expires", self.expires)
        elif self.on_expiry != "stay":
            raise DeclarationError(
                f"Approval: on_expiry={self.on_expiry!r} without expires never happens.",
                hint="Add expires=timedelta(...), or leave on_expiry out.",
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
