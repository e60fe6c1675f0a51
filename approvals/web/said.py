"""What a page says once an answer is recorded."""

from approvals.ledger.outcomes import Decided

FOLLOWS = {
    "resume": "The run goes on.",
    "cancel": "The run is cancelled.",
    "fail": "The run stops.",
    "correct": "The run goes on with the corrected input.",
    "skip": "The run goes on behind the step.",
    "replay": "The run goes on from the checkpoint.",
    "restart": "A new run takes its place.",
    "raise": "The run goes on with its longer deadline.",
    "begin": "It takes the old run's place, as soon as that one has let go.",
}


def said(decided: Decided) -> str:
    if decided.takes_effect_at is not None:
        return (
            f"Recorded. It takes effect at {decided.takes_effect_at:%Y-%m-%d %H:%M:%S} UTC; until "
            "then you may take it back."
        )
    if not decided.is_final:
        tally = decided.tally
        return (
            f"Your vote is recorded: {tally.given} of {tally.needed}. "
            f"Still needed: {', '.join(tally.still)}."
        )
    return f"Recorded: {decided.state}. {FOLLOWS[decided.then]}"
