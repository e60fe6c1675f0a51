"""What the database raises when it is away, full, busy or takes no writes: nobody's fault, tried again."""

from django.db import Error, InterfaceError, InternalError, OperationalError

# Every other error of the database is somebody's fault.
AWAY = (OperationalError, InterfaceError)
# A server that is read-only, as a standby is, says so by this code and not as being away.
READ_ONLY = "25006"


def takes_no_writes(error: BaseException) -> bool:
    """Whether the database answers, and refuses every write for now."""
    code = getattr(error.__cause__, "sqlstate", None)
    return isinstance(error, InternalError) and code == READ_ONLY


def is_away(error: Error) -> bool:
    """Whether the same write may succeed later without anybody having changed anything of ours."""
    return isinstance(error, AWAY) or takes_no_writes(error)
