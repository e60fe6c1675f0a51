"""What a step's body has made and that its next commit stores: nothing of it is lost or early."""

from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementMade:
    input_hash: str
    question: str
    by: str
    answer: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPlanned:
    plan: str
    ordinal: int
    effect: str
    resource: str
    request: str
    request_digest: str
    evidence: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineLogged:
    level: str
    message: str
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactStored:
    name: str
    media_type: str
    path: str
    size: int
    digest: str


@dataclass(slots=True, kw_only=True)
class Written:
    """The buffer of one attempt; emptied by the commit that stores it.

    `kept_keys` name calls that a checkpoint of an earlier generation has accepted already.
    """

    judgements: list[JudgementMade] = field(default_factory=list)
    planned: list[CallPlanned] = field(default_factory=list)
    lines: list[LineLogged] = field(default_factory=list)
    artifacts: list[ArtifactStored] = field(default_factory=list)
    accepted_keys: list[str] = field(default_factory=list)
    reused_keys: list[str] = field(default_factory=list)
    kept_keys: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(
            self.judgements
            or self.planned
            or self.lines
            or self.artifacts
            or self.accepted_keys
            or self.reused_keys
            or self.kept_keys
        )

    def copy(self) -> "Written":
        """The same content in lists of its own."""
        return Written(**{each.name: list(getattr(self, each.name)) for each in fields(self)})

    def clear(self) -> None:
        self.clear_what_stays()
        self.planned.clear()
        self.accepted_keys.clear()
        self.reused_keys.clear()
        self.kept_keys.clear()

    def clear_what_stays(self) -> None:
        """Forget what is stored even when no checkpoint has accepted the attempt."""
        for buffer in (self.judgements, self.lines, self.artifacts):
            buffer.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlace:
    """Which step's row a write belongs to."""

    key: str
    scope: str
    generation: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitDraft:
    """A wait about to be opened. `asks` is what a person is asked, canonical JSON text."""

    name: str
    kind: str
    after_seconds: float | None = None
    on_due: str = "stay"
    event_name: str = ""
    correlation_id: str = ""
    asks: str = "{}"
