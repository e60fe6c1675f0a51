"""What a page shows only in part, and that nobody agrees to what they have not had whole."""

from collections.abc import Sequence
from dataclasses import dataclass

# As much of one payload as a page shows before it is folded.
SHOWN = 16_384
# As many calls of a list as are shown whole on one page.
MOST_WHOLE = 1_000
WAYS = ("page", "download")


class WholeNotSeen(ValueError):
    """The page showed a part only; the whole has to be seen or downloaded first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """One thing of which the page shows a part: `shown` of `size`, both in words."""

    what: str
    shown: str
    size: str

    @property
    def sentence(self) -> str:
        return f"{self.what}: {self.shown} of {self.size} shown"


def refusal(folded: Sequence[Folded], *, has_whole: bool) -> str:
    """Why nobody may agree yet; empty when the page shows all, or the whole has been had."""
    if not folded or has_whole:
        return ""
    named = "; ".join(each.sentence for each in folded)
    return f"Only a part is shown ({named}). See or download the whole first."
