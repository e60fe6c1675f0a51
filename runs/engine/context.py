"""What a step's body is given as `run`: the author's verbs, over the engine's parts."""

import functools
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from runs.definition.context import JSON, Cursor, Judge, Judged, Level, Page, Pageable
from runs.definition.demands import paths
from runs.definition.effects import Answer, Effect
from runs.definition.timing import Timing
from runs.engine import parking, secrets
from runs.engine.caller import Caller
from runs.engine.interruptions import LEAVING
from runs.engine.limits import StepLimit
from runs.engine.paging import pages_of
from runs.engine.planning import Planner
from runs.engine.session import Attempt, Session
from runs.engine.turning import turn_page
from runs.ledger import steps
from runs.queries import resume
from runs.rules import canonical, keys, questions
from runs.rules.states import WaitKind, WaitState
from runs.rules.written import ArtifactStored, JudgementMade, LineLogged, WaitDraft

FACTS_LIMIT = 256 * 1024
LINES_LIMIT = 1000
PROGRESS_EVERY = 1.0

Item = TypeVar("Item")
Method = TypeVar("Method", bound=Callable[..., Any])


class UndeclaredFact(RuntimeError):
    """A step touched a fact that it does not declare in `reads` or `writes`."""


class FactTooLarge(ValueError):
    """A step's facts are more than 256 KiB; what is larger belongs into an artifact."""


def engine_side(method: Method) -> Method:
    """While the engine works for the author, the step's limit only takes note (R26).

    A body that has been told to leave and goes on is told again (R13).
    """

    @functools.wraps(method)
    def guarded(self: "RunContext", *args: Any, **kwargs: Any) -> Any:
        with self.limit.engine_at_work(), self.still_here():
            return method(self, *args, **kwargs)

    return cast("Method", guarded)


class RunContext:
    """One attempt at one step; implements `runs.definition.context.Run`."""

    def __init__(self, session: Session, attempt: Attempt, limit: StepLimit) -> None:
        self.session, self.attempt_made, self.limit = session, attempt, limit
        self.caller = Caller(session, attempt, limit)
        self.planner = Planner(session, attempt, self.caller)
        self._lines = 0
        self._progress_at = 0.0

    @contextmanager
    def still_here(self) -> Iterator[None]:
        """Remember how the body is told to leave, and say it again to whoever did not listen."""
        if self.session.left is not None:
            raise self.session.left
        try:
            yield
        except LEAVING as left:
            self.session.left = left
            raise

    @property
    def id(self) -> UUID:
        return self.session.fence.run_id

    @property
    def reference(self) -> str:
        return self.session.claimed.reference

    @property
    def step(self) -> str:
        return self.attempt_made.begun.key

    @property
    def attempt(self) -> int:
        return self.attempt_made.begun.attempt

    @engine_side
    def read(self, name: str) -> JSON:
        if name not in self.attempt_made.declared.reads:
            raise UndeclaredFact(
                f"Step {self.step} read “{name}” without declaring it: add it to reads=[...]."
            )
        if name not in self.session.facts:
            raise UndeclaredFact(
                f"Nobody has written the fact “{name}” that step {self.step} reads."
            )
        return self.session.facts[name]

    @engine_side
    def write(self, name: str, value: JSON) -> None:
        if name not in self.attempt_made.declared.writes:
            raise UndeclaredFact(
                f"Step {self.step} wrote “{name}” without declaring it: add it to writes=[...]."
            )
        size = len(canonical.dumps({**self.attempt_made.facts, name: value}).encode())
        if size > FACTS_LIMIT:
            raise FactTooLarge(
                f"The facts of step {self.step} would be {size:,} bytes with “{name}”; the limit "
                f"is {FACTS_LIMIT:,}. Store it with run.artifact(...) and write its reference."
            )
        self.attempt_made.facts[name] = value

    @engine_side
    def pages(self, source: Pageable[Item], *, size: int) -> Iterator[Page[Item]]:
        return pages_of(source, size=size, attempt=self.attempt_made)

    @contextmanager
    def checkpoint(self, *, cursor: Cursor) -> Iterator[None]:
        with self.still_here():
            parking.refuse_inside_transaction("checkpoint", self.attempt_made)
            with turn_page(self.session, self.attempt_made, cursor, self.limit):
                yield

    @engine_side
    def judge(self, question: str, subject: Any, *, by: Judge, sample: int = 0) -> Judged:
        parking.refuse_inside_transaction("judge", self.attempt_made)
        seen = by.input_of(subject)
        input_hash = keys.judgement_hash(
            question=question, judge=by.name, parameters=by.parameters, input=seen, sample=sample
        )
        known = self._judgements().get(input_hash)
        if known is not None:
            return Judged(value=canonical.loads(known), input_hash=input_hash, reused=True)
        with self.limit.authors_code():
            value = by.judge(question, seen)
        cost = _cost_of(by, value)
        answer = canonical.dumps(value)
        self._judgements()[input_hash] = answer
        self.session.written.judgements.append(
            JudgementMade(
                input_hash=input_hash,
                question=question[:500],
                by=by.name[:200],
                answer=answer,
                cost=canonical.dumps(cost or {}),
            )
        )
        return Judged(value=value, input_hash=input_hash, reused=False, cost=cost)

    def _judgements(self) -> dict[str, str]:
        attempt = self.attempt_made
        if attempt.judgements is None:
            begun = attempt.begun
            attempt.judgements = (
                resume.judgements_of(
                    self.id, scope=begun.scope, ordinal=begun.ordinal, generation=begun.generation
                )
                if begun.attempt > 1 or begun.generation > 1
                else {}
            )
        return attempt.judgements

    @engine_side
    def plan(
        self,
        name: str,
        effect: Effect,
        *,
        resource: str | int,
        request: Mapping[str, JSON],
        evidence: JSON = None,
    ) -> None:
        self.planner.plan(
            name,
            effect,
            resource=keys.resource_text(resource),
            request=canonical.dumps(dict(request)),
            evidence=canonical.dumps(evidence),
        )

    @engine_side
    def apply(self, name: str) -> Mapping[str, int]:
        parking.refuse_inside_transaction("apply", self.attempt_made)
        return self.planner.apply(name, progress=self.progress)

    @engine_side
    def call(self, effect: Effect, *, resource: str | int, request: Mapping[str, JSON]) -> Answer:
        parking.refuse_inside_transaction("call", self.attempt_made)
        text, about = canonical.dumps(dict(request)), keys.resource_text(resource)
        authority = self.planner.authority_for(effect, resource=about, request=text)
        return self.caller.call(effect, resource=about, request=text, authority=authority)

    @engine_side
    def ask(
        self,
        name: str,
        *,
        question: str,
        options: Sequence[str] | Mapping[str, str] = ("yes", "no"),
        fields: Mapping[str, JSON] | None = None,
        evidence: JSON = None,
        redact: Sequence[str] = (),
        groups: Sequence[str] = (),
        quorum: int = 1,
        all_of: Sequence[str] = (),
        expires: timedelta | None = None,
        on_expiry: Literal["stay", "cancel", "fail"] = "stay",
        timing: Timing | None = None,
    ) -> dict[str, JSON]:
        parking.refuse_inside_transaction("ask", self.attempt_made)
        ask = questions.question(
            text=question,
            options=options,
            fields=fields,
            evidence=evidence,
            groups=groups,
            redact=paths("run.ask: redact", redact),
            quorum=quorum,
            all_of=all_of,
        )
        answered = parking.answered_or_park(
            self.session,
            self.attempt_made,
            name=parking.claim_name(self.attempt_made, "ask", name),
            ask=ask,
            expires=parking.seconds(expires),
            on_expiry=on_expiry,
            timing=timing,
        )
        answer = answered.answer
        return {"option": answer["option"], "fields": answer.get("fields", {}), "by": answered.by}

    @engine_side
    def wait_for(
        self,
        name: str,
        *,
        correlation_id: str,
        expires: timedelta | None = None,
        on_expiry: Literal["fail", "stay", "cancel"] = "fail",
    ) -> dict[str, JSON]:
        parking.refuse_inside_transaction("wait_for", self.attempt_made)
        draft = WaitDraft(
            name=parking.claim_name(self.attempt_made, "event", f"{name} {correlation_id}"),
            kind=WaitKind.EVENT,
            after_seconds=parking.seconds(expires),
            on_due=on_expiry,
            event_name=name,
            correlation_id=correlation_id,
        )
        payload: dict[str, JSON] = parking.wait(self.session, self.attempt_made, draft).answer
        return payload

    @engine_side
    def sleep(self, name: str, duration: timedelta, /) -> None:
        parking.refuse_inside_transaction("sleep", self.attempt_made)
        draft = WaitDraft(
            name=parking.claim_name(self.attempt_made, "sleep", name),
            kind=WaitKind.TIMER,
            after_seconds=max(duration.total_seconds(), 0.0),
            on_due="resume",
        )
        answered = parking.wait(self.session, self.attempt_made, draft)
        assert answered.state is WaitState.RESOLVED  # noqa: S101 - a timer has no other end

    @engine_side
    def log(self, message: str, *, level: Level = "info", **fields: JSON) -> None:
        self._lines += 1
        if self._lines > LINES_LIMIT:
            return
        if self._lines == LINES_LIMIT:
            level, message, fields = "warning", "Further lines of this attempt are not kept.", {}
        self.session.written.lines.append(
            LineLogged(
                level=level,
                message=secrets.safe(str(message))[:2000],
                fields=secrets.safe(canonical.dumps(fields))[:4000],
            )
        )

    @engine_side
    def progress(self, n: int, of: int | None = None) -> None:
        now = time.monotonic()
        if now - self._progress_at < PROGRESS_EVERY and n != of:
            return
        self._progress_at = now
        steps.note_progress(self.session.fence, self.attempt_made.place, done=n, total=of)

    @engine_side
    def extend(self, by: timedelta, /) -> None:
        if by <= timedelta():
            raise ValueError(f"run.extend({by!r}): say how much longer it may take from now.")
        parking.refuse_inside_transaction("extend", self.attempt_made)
        steps.note_extension(self.session.fence, step=self.step, by=by)

    @engine_side
    def artifact(self, name: str, content: bytes, media_type: str) -> dict[str, JSON]:
        digest = hashlib.sha256(content).hexdigest()
        begun = self.attempt_made.begun
        path = f"{self.id}/{begun.key}/{begun.generation}/{digest[:16]}-{name}"
        # Named by its content: an attempt that is repeated finds the same file, whole or not at all.
        if not default_storage.exists(path) or default_storage.size(path) != len(content):
            default_storage.delete(path)
            path = default_storage.save(path, ContentFile(content))
        self.session.written.artifacts.append(
            ArtifactStored(
                name=name, media_type=media_type, path=path, size=len(content), digest=digest
            )
        )
        return {
            "artifact": name,
            "step": begun.key,
            "digest": digest,
            "size": len(content),
            "media_type": media_type,
        }


def _cost_of(judge: Judge, value: JSON) -> Mapping[str, JSON] | None:
    cost = getattr(judge, "cost", None)
    return cost(value) if callable(cost) else None
