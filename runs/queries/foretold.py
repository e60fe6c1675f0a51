"""What each way on from where a run stands would do, in words, before anybody chooses it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from runs.models import Run, Step
from runs.queries.preview import past_of
from runs.queries.starting_points import point_of
from runs.rules.foretelling import foretold
from runs.rules.plan import Plan
from runs.rules.preview import Choice

RESUME, RESTART = "resume", "restart"


def ways_on(run: Run, plan: Plan, step: Step, *, points: Sequence[int]) -> Mapping[str, str]:
    """`resume`, `restart`, and each checkpoint by its number, with its dry run as a sentence."""
    past = past_of(run, with_relatives=True)
    resumed = Choice(
        posture="resume",
        first=step.ordinal,
        cursor=step.cursor_ordinal,
        generation=run.generation,
        checkpoint=run.checkpoint,
    )
    own = replace(past, relatives=())
    found = {
        RESUME: foretold(plan, own, resumed),
        RESTART: foretold(plan, past, Choice(posture="restart", first=1)),
    }
    for number in points:
        found[str(number)] = foretold(plan, own, _behind(run, number))
    return found


def _behind(run: Run, number: int) -> Choice:
    point = point_of(run, number)
    return Choice(
        posture="replay",
        first=point.first,
        cursor=point.cursor_ordinal,
        generation=run.generation + 1,
        checkpoint=number,
    )
