"""What breaks an invariant: which one, in which run, and what was found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """`invariant` is the id it has in the design (I1, R20); `run` is empty where no run is meant."""

    invariant: str
    run: str
    text: str
