"""Reads an inbox that is made of mails: an mbox file or a Maildir folder."""

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message as Mail
from html import unescape
from pathlib import Path

from runs.examples.inbox.incoming import Incoming, cleaned, digest_of, trouble

SEPARATOR = b"From "
QUOTED_SEPARATOR = re.compile(rb"^>(>*From )", re.MULTILINE)
NOT_SHOWN = re.compile(r"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<[^>]*>")
LABEL_HEADER = "X-Inbox-Label"


def read_mbox(source: Path) -> Iterator[Incoming]:
    """Each mail of an mbox file, in the order of the file."""
    with source.open("rb") as stream:
        lines: list[bytes] = []
        start, blank = 0, True
        for number, line in enumerate(stream, start=1):
            if line.startswith(SEPARATOR) and blank:
                if start:
                    yield _from_mbox(source, start, lines)
                lines, start = [], number
            elif not start:
                what = "not an mbox: its first line must begin with 'From '"
                raise trouble(source, what, line=number)
            else:
                lines.append(line)
            blank = line in (b"\n", b"\r\n")
        if start:
            yield _from_mbox(source, start, lines)


def read_maildir(source: Path) -> Iterator[Incoming]:
    """Each mail of a Maildir, in the order of its file names."""
    for path in maildir_files(source):
        raw = path.read_bytes()
        if not raw.strip():
            raise trouble(path, "the file is empty")
        yield _mail_in(path, raw, file=f"{path.parent.name}/{path.name}")


def maildir_files(source: Path) -> list[Path]:
    found = [
        path
        for folder in ("cur", "new")
        for path in (source / folder).iterdir()
        if not path.name.startswith(".") and path.is_file()
    ]
    return sorted(found, key=lambda path: (path.name, path.parent.name))


def _from_mbox(source: Path, line: int, lines: list[bytes]) -> Incoming:
    raw = QUOTED_SEPARATOR.sub(rb"\1", b"".join(lines)).rstrip(b"\r\n") + b"\n"
    if not raw.strip():
        raise trouble(source, "the mail that begins here is empty", line=line)
    return _mail_in(source, raw, line=line)


def _mail_in(
    source: Path, raw: bytes, *, line: int | None = None, file: str | None = None
) -> Incoming:
    try:
        return _parsed(raw, file=file)
    except RecursionError:
        raise trouble(source, "a mail with too many parts in parts", line=line) from None


def _parsed(raw: bytes, *, file: str | None = None) -> Incoming:
    mail = message_from_bytes(raw)
    label = _header(mail, LABEL_HEADER).lower()
    return Incoming(
        sender=_header(mail, "From"),
        subject=_header(mail, "Subject"),
        text=cleaned(_text_of(mail)),
        label=label if label in ("ham", "spam") else "",
        digest=digest_of(raw),
        raw=raw,
        file=file,
    )


def _header(mail: Mail, name: str) -> str:
    value = str(mail.get(name, ""))
    with suppress(HeaderParseError, LookupError, ValueError):
        value = str(make_header(decode_header(value)))
    return " ".join(cleaned(value).split())


def _text_of(mail: Mail) -> str:
    parts = [part for part in mail.walk() if not part.is_multipart()]
    for subtype in ("plain", "html"):
        texts = [_decoded(part) for part in parts if part.get_content_type() == f"text/{subtype}"]
        if any(text.strip() for text in texts):
            return "\n".join(_shown(text) if subtype == "html" else text for text in texts).strip()
    return ""


def _decoded(part: Mail) -> str:
    content = part.get_payload(decode=True)
    body = content if isinstance(content, bytes) else b""
    try:
        return body.decode(part.get_content_charset() or "utf-8", "replace")
    except (LookupError, ValueError):  # A name that is none, or of a codec that replaces nothing.
        return body.decode("utf-8", "replace")


def _shown(html: str) -> str:
    return " ".join(unescape(TAG.sub(" ", NOT_SHOWN.sub(" ", html))).split())
