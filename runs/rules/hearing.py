"""Who hears of a piece of news, who does not, and why; in words that promise no more than is so."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """`named` says for whom the news is; `beyond` that more of them have an address than get mail."""

    named: str
    mailed: Sequence[str]
    without_address: Sequence[str]
    beyond: bool
    channels: Sequence[str]
    dead: Sequence[str]
    mail_leaves: bool

    @property
    def sentence(self) -> str:
        said = [*self._told(), *self._untold()]
        if not (self.mailed or self.channels):
            said.insert(0, "Nobody is told.")
        return " ".join(said)

    def _told(self) -> list[str]:
        mailed = f"Told by mail: {_listed(self.mailed)}{' and no more' if self.beyond else ''}."
        kept = "No mail leaves from here: it is written to files, until EMAIL_URL says how."
        channels = (
            f"Told through the channel{'s' * (len(self.channels) > 1)} {_listed(self.channels)}."
        )
        return [
            *([mailed] if self.mailed else []),
            *([kept] if self.mailed and not self.mail_leaves else []),
            *([channels] if self.channels else []),
        ]

    def _untold(self) -> list[str]:
        silent = f"Not told by mail, as no address is entered: {_listed(self.without_address)}."
        dead = f"Does not arrive at present: {_listed(self.dead)}."
        nobody = f"There is nobody in {self.named}."
        return [
            *([silent] if self.without_address else []),
            *([dead] if self.dead else []),
            *([] if self.mailed or self.without_address else [nobody]),
        ]


def _listed(names: Sequence[str], *, most: int = 10) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
