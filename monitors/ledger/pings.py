"""A ping is taken in: the monitor moves and the ping is written down, in one commit.

For the judge: a ping moves `state`, `expected_at` and `alert_at`, and never the verdict. It brings
`judge_at` to now when there is news (the state changed, a success while the verdict is not
`alive`, every failure); else it only makes sure that `judge_at` is not later than `expected_at` or
`alert_at`. So the judge takes what has `judge_at` <= now, reads those times again under the row's
lock, and puts `judge_at` to the next of them that is still to come, or to None.

A beat is told in `X-Milepost-Beat: fence,number`. From the first one on a monitor counts beats
alone: a ping without one is `alien`, a smaller fence `old_fence`, a number that is not greater
under the same fence `old_number`, or `late` when `X-Milepost-Sent` (seconds since 1970) says that
it was kept back. Such a ping is numbered, kept and shown, and changes nothing else. A spool that
is sent in order, oldest first, counts. The judge may set `fence` itself to turn away the past.
"""

from django.db import connection

from monitors.ledger import postgresql, sqlite
from monitors.rules.received import Outcome, Received, Terms, terms_of
from runs.ledger.commits import commits

# A monitor that is edited at the very same time is read once more; nobody edits this often.
MOST_READINGS = 5


class MonitorChanging(Exception):
    """The monitor's limits changed at each of several readings; send the ping again."""


@commits("ping_committed", when=lambda outcome: outcome.what == "taken")
def receive(received: Received) -> Outcome:
    """Take one ping in. `unknown` and `ambiguous` have written nothing."""
    if connection.vendor == "sqlite":
        return sqlite.ping(received)
    terms: Terms | None = None
    for _ in range(MOST_READINGS):
        outcome = postgresql.ping(received, terms=terms)
        if outcome.what != "terms" or outcome.revision is None or outcome.at is None:
            return outcome
        terms = terms_of(
            received,
            revision=outcome.revision,
            at=outcome.at,
            cron=outcome.cron,
            zone=outcome.zone,
            filters=outcome.filters,
        )
    raise MonitorChanging(f"monitor {received.code or received.slug} is being edited")
