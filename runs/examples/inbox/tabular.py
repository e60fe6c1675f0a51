"""Reads an inbox that is a table: one message a row, tab-separated (unquoted) or CSV."""

import csv
from collections.abc import Iterator
from pathlib import Path

from runs.examples.inbox.incoming import Incoming, cleaned, digest_of, trouble

BOM = b"\xef\xbb\xbf"
LONGEST_LINE = 1 << 20
LABELS = ("ham", "spam")
TEXT_COLUMNS = ("text", "sms", "message", "body")
SENDER_COLUMNS = ("sender", "from")


def read_tsv(source: Path) -> Iterator[Incoming]:
    """`Label<TAB>text` with or without that header, or one unlabelled text a line."""
    labelled: bool | None = None
    for number, line in _lines(source):
        columns = line.split("\t")
        if labelled is None:
            labelled, is_header = _shape_of(source, columns)
            if is_header:
                continue
        if labelled:
            yield _labelled(source, number, columns)
        elif len(columns) == 1:
            yield _message(source, number, text=line)
        else:
            raise trouble(source, f"{len(columns)} columns where 1 is expected", line=number)


def read_csv(source: Path) -> Iterator[Incoming]:
    """A header that names a column `text` (or `message`, `body`, `sms`); others are optional."""
    rows = csv.reader((line + "\n" for _, line in _lines(source, blanks=True)), strict=True)
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        text, label, sender, subject = _columns_of(source, header)
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                what = f"{len(row)} columns where {len(header)} are expected"
                raise trouble(source, what, line=rows.line_num)
            yield _message(
                source,
                rows.line_num,
                text=row[text],
                label=row[label] if label is not None else "",
                sender=row[sender] if sender is not None else "",
                subject=row[subject] if subject is not None else "",
            )
    except csv.Error as error:
        raise trouble(source, f"not valid CSV ({error})", line=rows.line_num) from error


def _lines(source: Path, *, blanks: bool = False) -> Iterator[tuple[int, str]]:
    with source.open("rb") as stream:
        number = 0
        while raw := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(raw) > LONGEST_LINE:
                raise trouble(source, f"longer than {LONGEST_LINE} bytes", line=number)
            line = _decoded(source, number, raw)
            if not line.strip() and not blanks:
                if stream.read(1):
                    raise trouble(source, "the line is empty", line=number)
                return
            yield number, line


def _decoded(source: Path, number: int, raw: bytes) -> str:
    skipped = 0
    if number == 1:
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise trouble(source, "this is UTF-16; UTF-8 is expected", line=1, byte=1)
        if raw.startswith(BOM):
            skipped = len(BOM)
    body = raw[skipped:].removesuffix(b"\n").removesuffix(b"\r")
    try:
        line = body.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{body[error.start]:02x}"
        what = f"{byte} is not valid UTF-8, which is expected ({error.reason})"
        raise trouble(source, what, line=number, byte=skipped + error.start + 1) from error
    if "\x00" in line:
        raise trouble(source, "a NUL byte", line=number, byte=skipped + body.index(0) + 1)
    return line


def _shape_of(source: Path, columns: list[str]) -> tuple[bool, bool]:
    """Whether the first line says that the rows are labelled, and whether it is a header."""
    first = columns[0].strip().lower()
    if len(columns) == 1:
        return False, first in TEXT_COLUMNS
    if first == "label" and len(columns) == 2:
        return True, True
    if first in LABELS:
        return True, False
    what = (
        "expected the header 'Label<TAB>text', a label (ham or spam) before the text, or one column"
    )
    raise trouble(source, what, line=1)


def _labelled(source: Path, number: int, columns: list[str]) -> Incoming:
    if len(columns) != 2:
        raise trouble(source, f"{len(columns)} columns where 2 are expected", line=number)
    return _message(source, number, text=columns[1], label=columns[0])


def _columns_of(source: Path, header: list[str]) -> tuple[int, int | None, int | None, int | None]:
    text = _first_of(header, TEXT_COLUMNS)
    if text is None:
        what = f"the header names no column of {', '.join(TEXT_COLUMNS)}"
        raise trouble(source, what if header else "the file is empty", line=1)
    if len(set(header)) != len(header):
        raise trouble(source, "the header names a column twice", line=1)
    return (
        text,
        _first_of(header, ("label",)),
        _first_of(header, SENDER_COLUMNS),
        _first_of(header, ("subject",)),
    )


def _first_of(header: list[str], names: tuple[str, ...]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _message(
    source: Path, line: int, *, text: str, label: str = "", sender: str = "", subject: str = ""
) -> Incoming:
    marked = label.strip().lower()
    if marked and marked not in LABELS:
        raise trouble(source, f"the label is {label[:40]!r}; ham or spam is expected", line=line)
    if not text.strip():
        raise trouble(source, "the text is empty", line=line)
    sender, subject = " ".join(sender.split()), " ".join(subject.split())
    digest = digest_of(sender, subject, text)
    return Incoming(sender=sender, subject=subject, text=cleaned(text), label=marked, digest=digest)
