"""Which reader reads this inbox."""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

from runs.examples.inbox.incoming import Incoming, trouble
from runs.examples.inbox.mail import SEPARATOR, read_maildir, read_mbox
from runs.examples.inbox.tabular import read_csv, read_tsv

Reader = Callable[[Path], Iterator[Incoming]]
NAMES_NOTHING = (errno.ENAMETOOLONG, errno.ELOOP)


def read(source: Path) -> Iterator[Incoming]:
    """Every message in order; UnreadableInbox names the place of what is wrong."""
    empty = True
    if "\x00" in str(source):
        raise trouble(source, "a path holds no NUL character")
    try:
        reader: Reader = read_maildir if _is_maildir(source) else _reader_of_file(source)
        for message in reader(source):
            empty = False
            yield message
    except (FileNotFoundError, NotADirectoryError) as error:
        raise trouble(Path(error.filename or source), "there is no such file or folder") from error
    except PermissionError as error:
        raise trouble(Path(error.filename or source), "this process may not read it") from error
    except OSError as error:
        if error.errno not in NAMES_NOTHING:
            raise
        raise trouble(source, str(error.strerror).lower()) from error
    if empty:
        raise trouble(source, "there is no message in it")


def _is_maildir(source: Path) -> bool:
    if not source.is_dir():
        return False
    missing = [name for name in ("cur", "new") if not (source / name).is_dir()]
    if missing:
        raise trouble(source, f"a folder, but no Maildir: it has no {' and no '.join(missing)}")
    return True


def _reader_of_file(source: Path) -> Reader:
    if source.exists() and not source.is_file():
        raise trouble(source, "neither a file nor a Maildir")
    with source.open("rb") as stream:
        begins = stream.read(len(SEPARATOR))
    match source.suffix.lower():
        case ".csv":
            return read_csv
        case ".mbox":
            return read_mbox
        case ".tsv" | ".txt":
            return read_tsv
    return read_mbox if begins == SEPARATOR else read_tsv
