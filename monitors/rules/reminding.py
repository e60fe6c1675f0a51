"""When people are reminded of what is still open: later each time, never after they took it on."""

from datetime import datetime, timedelta

# Between the first message and the first reminder, between that and the second, and so on.
BACK_OFF = (timedelta(minutes=15), timedelta(hours=1), timedelta(hours=4))
DAILY = timedelta(days=1)


def pause_before(reminder: int) -> timedelta:
    """How long after the message before it the reminder with this number (from 1) comes."""
    return BACK_OFF[reminder - 1] if reminder <= len(BACK_OFF) else DAILY


def is_daily(reminder: int) -> bool:
    """Those are collected into one message a tenant."""
    return reminder > len(BACK_OFF)


def next_reminder(
    *, now: datetime, sent: int, acknowledged: bool, snoozed_until: datetime | None
) -> datetime | None:
    """When the next one is due; None when somebody has it in hand.

    The end of a snooze is itself a reminder: it comes then and not before.
    """
    if snoozed_until is not None and snoozed_until > now:
        return snoozed_until
    return None if acknowledged else now + pause_before(sent + 1)
