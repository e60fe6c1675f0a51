"""What a person is asked when a run's deadline is over, where its workflow says that one is asked."""

from typing import Any

from runs.rules.asks import Ask, ask, option
from runs.rules.limits import Deadline, length
from runs.rules.surfacing import Stopped, evidence_of, goes_on

KIND = "limit"


def deadline_over(stopped: Stopped, standing: Deadline, *, progress: str) -> Ask:
    """Raise it, or stop; `progress` is the file that tells what the run has come to."""
    allowed = length(standing.allowed.total_seconds())
    return ask(
        KIND,
        f"The deadline of this run is over: {standing}. Raise it?",
        [_raise(stopped, allowed=allowed), _stop(stopped), _cancel(stopped)],
        evidence={
            "limit": "run deadline",
            "allowed": allowed,
            "used": length(standing.used.total_seconds()),
            "of_it_waiting_for_others": length(standing.outside.total_seconds()),
            "progress": progress,
            **evidence_of(stopped),
        },
    )


def _raise(stopped: Stopped, *, allowed: str) -> dict[str, Any]:
    return option(
        "raise",
        "Raise the deadline",
        "The run gets the deadline you enter, counted from its start; time spent waiting for people "
        f"or paused does not count. {goes_on(stopped)}",
        then="raise",
        fields={
            "hours": {
                "type": "number",
                "label": "New deadline, in hours from the start",
                "required": True,
                "help": f"More than {allowed}, and more than is used already.",
            }
        },
    )


def _stop(stopped: Stopped) -> dict[str, Any]:
    return option(
        "stop",
        "Stop",
        f"Nothing more is sent. The run stops as failed in step {stopped.step}; its checkpoints "
        "stay, and it can be resumed with a longer deadline, replayed or restarted later.",
        then="fail",
    )


def _cancel(stopped: Stopped) -> dict[str, Any]:
    done = f" What {', '.join(stopped.finished)} did stays." if stopped.finished else ""
    return option(
        "cancel",
        "Cancel the run",
        f"Nothing more is sent. The run ends as cancelled in step {stopped.step} and never changes "
        f"again.{done}",
        then="cancel",
    )
