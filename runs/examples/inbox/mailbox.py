"""The receiver of deletions: a Maildir, in which a message is there or gone."""

import errno
import os
from pathlib import Path

from runs.definition import NotSent, Refused

FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def delete(request: dict[str, str], /, *, key: str, timeout: float) -> dict[str, str]:
    """Remove one message; one that is gone already answers "gone"."""
    mailbox = Path(request["mailbox"])
    if not (mailbox / "cur").is_dir() or not (mailbox / "new").is_dir():
        raise NotSent(f"{mailbox} is not there, or is no Maildir any more")
    path = find(mailbox, request["file"])
    if path is None:
        return {"id": request["id"], "result": "gone"}
    try:
        path.unlink()
    except FileNotFoundError:
        return {"id": request["id"], "result": "gone"}
    except OSError as error:
        if error.errno in FORBIDDEN:
            raise Refused(f"{path} may not be deleted: {error.strerror}") from error
        raise
    _sync(path.parent)
    return {"id": request["id"], "result": "deleted"}


def find(mailbox: Path, file: str) -> Path | None:
    """Where the message is now; a mail reader may have moved it or changed its flags."""
    folder, _, name = file.partition("/")
    if folder not in ("cur", "new") or "/" in name or name in ("", ".", ".."):
        raise Refused(f"{file!r} names no message of a Maildir")
    if (mailbox / file).exists():
        return mailbox / file
    unique = unique_name(file)
    for where in ("cur", "new"):
        with os.scandir(mailbox / where) as listing:
            for found in listing:
                if unique_name(found.name) == unique:
                    return Path(found.path)
    return None


def listing(mailbox: Path) -> frozenset[str]:
    """The unique names of all messages that are there now."""
    return frozenset(
        unique_name(found.name) for where in ("cur", "new") for found in (mailbox / where).iterdir()
    )


def unique_name(file: str) -> str:
    """The part of a file name that stays when a mail reader moves or flags the message."""
    return file.rpartition("/")[2].partition(":")[0]


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
