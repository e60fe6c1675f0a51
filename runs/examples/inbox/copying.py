"""Turns any inbox into one settled folder: built aside, synced, then renamed into place whole."""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from email.header import Header
from hashlib import sha256
from pathlib import Path

from runs.examples.inbox.incoming import Incoming, trouble
from runs.examples.inbox.index import Entry
from runs.examples.inbox.readers import read

INDEX, MANIFEST = "index.jsonl", "manifest.json"
REPORT_EVERY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a settled folder holds: where the mailbox is, how many messages, and their digest."""

    mailbox: str
    source: str
    count: int
    digest: str


def settle(
    *, source: Path, folder: Path, in_place: bool, progress: Callable[[int], None]
) -> Manifest:
    """Read the source into `folder`, once: a folder that stands is whole and is taken as it is."""
    if not folder.exists():
        _remove_unfinished(folder)
        aside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
        try:
            _build(aside, source=source, folder=folder, in_place=in_place, progress=progress)
            _put_in_place(aside, folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return Manifest(**json.loads((folder / MANIFEST).read_text("utf-8")))


def _remove_unfinished(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    for part in folder.parent.glob(f".{folder.name}.*.part"):
        shutil.rmtree(part, ignore_errors=True)


def _build(
    aside: Path, *, source: Path, folder: Path, in_place: bool, progress: Callable[[int], None]
) -> None:
    if in_place and not source.is_dir():
        raise trouble(source, "only a Maildir can be worked on in place; leave in_place off")
    for name in () if in_place else ("cur", "new", "tmp"):
        (aside / name).mkdir(parents=True)
    aside.mkdir(exist_ok=True)
    digest, count = sha256(), 0
    with (aside / INDEX).open("wb") as index:
        for entry in _entries(aside, source=source, in_place=in_place):
            line = json.dumps(asdict(entry), ensure_ascii=False).encode("utf-8") + b"\n"
            index.write(line)
            digest.update(line)
            count = entry.ordinal
            if count % REPORT_EVERY == 0:
                progress(count)
    manifest = Manifest(
        mailbox=str(source if in_place else folder),
        source=str(source),
        count=count,
        digest=digest.hexdigest(),
    )
    (aside / MANIFEST).write_text(json.dumps(asdict(manifest)), "utf-8")


def _entries(aside: Path, *, source: Path, in_place: bool) -> Iterator[Entry]:
    for ordinal, message in enumerate(read(source), start=1):
        identity = f"{ordinal:06d}-{message.digest[:12]}"
        file = message.file if in_place and message.file else _keep(aside, identity, message)
        yield Entry(
            ordinal=ordinal,
            id=identity,
            file=file,
            sender=message.sender,
            subject=message.subject,
            text=message.text,
            label=message.label,
        )


def _keep(aside: Path, identity: str, message: Incoming) -> str:
    flags = message.file.partition(":")[2] if message.file else ""
    file = f"cur/{identity}:{flags}" if flags else f"new/{identity}"
    (aside / file).write_bytes(message.raw or _composed(identity, message))
    return file


def _composed(identity: str, message: Incoming) -> bytes:
    """A mail made of a row: always the same bytes for the same row, so no date and no chance."""
    sender = Header(message.sender or "unknown@inbox.invalid", "utf-8", 998).encode(linesep="\n")
    subject = Header(message.subject, "utf-8", 998).encode(linesep="\n")
    head = (
        f"From: {sender}\nSubject: {subject}\nMessage-ID: <{identity}@inbox.invalid>\n"
        "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
        "Content-Transfer-Encoding: 8bit\n\n"
    )
    return head.encode("ascii") + message.text.encode("utf-8") + b"\n"


def _put_in_place(aside: Path, folder: Path) -> None:
    # One sync for all files: a power cut after the rename must not leave a whole-looking folder of
    # empty files, and fifty thousand single fsync calls take minutes on a slow disk.
    os.sync()
    try:
        aside.rename(folder)
    except OSError:
        # Another attempt that was taken for dead finished first; its folder is as whole as ours.
        if not (folder / MANIFEST).exists():
            raise
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
