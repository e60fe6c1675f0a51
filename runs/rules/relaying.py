"""What a relayed call is to its courier, and when one counts as stuck."""

from dataclasses import dataclass
from datetime import timedelta

from runs.rules import canonical
from runs.rules.calls import CallDraft, CallRecord

LANE = "relay "
LONGEST_LANE = 100
# From this many fruitless deliveries on somebody has to know.
STUCK_AFTER = 5
FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relayed:
    """A call that a courier is to send: a new one, or one that is stored and to be sent once more.

    `allowed_by` says who knows that it has not happened so far; empty where only its contract does.
    `digest` covers what was approved: the effect as it was declared, the resource, the bytes.
    """

    draft: CallDraft
    known: CallRecord | None
    receiver: str
    digest: str
    alone: bool
    allowed_by: str = ""


def lane_of(receiver: str) -> str:
    """The lane in which everything for one receiver leaves."""
    return f"{LANE}{receiver}"[:LONGEST_LANE]


def is_lane(lane: str) -> bool:
    return lane.startswith(LANE)


def order_key(*, tenant_id: int, effect: str, resource: str) -> str:
    """Calls that share it leave one after the other, in the order in which they were put."""
    return canonical.digest(canonical.dumps(["milepost.order.1", tenant_id, effect, resource]))


def pause_after(attempts: int) -> timedelta:
    """Twice as long after each fruitless delivery, up to a quarter of an hour."""
    doublings = min(attempts - 1, 20)
    return min(FIRST_PAUSE * int(2**doublings), LONGEST_PAUSE)


def what_next(
    *, state: str, relayed: bool, on_its_way: bool, waits_for_turn: bool, paused: bool
) -> str:
    """What happens to a message without anybody doing anything, in words."""
    match state:
        case "delivered":
            return "Nothing: it has arrived." if not relayed else "Nothing: its call is known."
        case "dead":
            return "Nothing: nobody waits for it any more, or it was tried too often."
        case "held":
            return (
                "Nothing leaves: its call is in doubt. Its run looks it up, or a person is asked."
            )
    if on_its_way:
        return "A courier is sending it now."
    if waits_for_turn:
        return "It leaves when what was put before it for the same resource is known."
    if paused:
        return "It leaves when its run is resumed."
    return "A courier tries it when it is due" + (", under the same key." if relayed else ".")
