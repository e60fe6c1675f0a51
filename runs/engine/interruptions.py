"""How a step's body is left before its end: parked, stopped, or handed on.

All are BaseExceptions, so that an author's `except Exception` cannot swallow them (R13).
"""

from runs.rules.fence import FenceLost


class Parked(BaseException):
    """The run has been parked in the database; the worker is free."""


class StopRequested(BaseException):
    """Somebody asked to cancel or pause, and a checkpoint has been reached."""


class HandBack(BaseException):
    """This worker is to go; the checkpoint it has reached is committed.

    `entered` says whether the body of the current step had begun.
    """

    def __init__(self, because: str, *, entered: bool) -> None:
        super().__init__(because)
        self.because, self.entered = because, entered


LEAVING = (Parked, StopRequested, HandBack, FenceLost)
