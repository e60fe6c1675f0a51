"""The file that a run is taken away in: a zip whose every byte is covered by a digest.

Each part holds one canonical JSON value a line; `manifest.json` names each part's SHA-256, and the
zip's comment is the SHA-256 of all the file's bytes but that digest itself, 64 hexadecimal digits.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from runs.rules import canonical

FORMAT = "milepost-bundle/1"
MANIFEST = "manifest.json"
SEAL = b"sha256 "
DIGITS = 64
PIECE = 1024 * 1024
# Always the same, so that the same run makes the same bytes.
LONG_AGO = (1980, 1, 1, 0, 0, 0)


class Unreadable(ValueError):
    """This is no bundle, or not whole; the message says why."""


class Packer:
    """Writes one bundle, part by part."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self._parts: dict[str, dict[str, Any]] = {}

    def lines(self, name: str, values: Iterable[Any]) -> None:
        """A part with one canonical JSON value a line."""
        self.file(name, ((canonical.dumps(value) + "\n").encode() for value in values))

    def file(self, name: str, pieces: Iterable[bytes]) -> None:
        """A part as it is."""
        running, size = hashlib.sha256(), 0
        with self._zip.open(_entry(name), "w", force_zip64=True) as part:
            for piece in pieces:
                running.update(piece)
                size += len(piece)
                part.write(piece)
        self._parts[name] = {"sha256": running.hexdigest(), "bytes": size}

    def seal(self, about: Mapping[str, Any]) -> str:
        """Write the manifest and the seal; the digest of all that was written."""
        manifest = {"format": FORMAT, "about": dict(about), "parts": self._parts}
        self._zip.writestr(_entry(MANIFEST), canonical.dumps(manifest) + "\n")
        self._zip.comment = SEAL + b"0" * DIGITS
        self._zip.close()
        end = self._file.seek(0, 2) - DIGITS
        digest = _digest_up_to(self._file, end)
        self._file.seek(end)
        self._file.write(digest.encode())
        self._file.seek(0)
        return digest


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _digest_up_to(file: IO[bytes], end: int) -> str:
    running, left = hashlib.sha256(), end
    file.seek(0)
    while left and (piece := file.read(min(PIECE, left))):
        running.update(piece)
        left -= len(piece)
    return running.hexdigest()


@dataclass
class Bundle:
    """A bundle that is read; parts are read when they are asked for."""

    file: IO[bytes]
    zip: zipfile.ZipFile

    @cached_property
    def manifest(self) -> dict[str, Any]:
        try:
            found = canonical.loads(self.zip.read(MANIFEST).decode())
        except Exception as error:  # noqa: BLE001 - see _part_fault
            raise Unreadable(f"{MANIFEST}: cannot be read: {error}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise Unreadable(f"{MANIFEST}: does not name the format {FORMAT}")
        return found

    @property
    def about(self) -> dict[str, Any]:
        found: dict[str, Any] = self.manifest["about"]
        return found

    @property
    def seal(self) -> str:
        """The digest of the whole file, as it states it."""
        return self.zip.comment.removeprefix(SEAL).decode("ascii", "replace")

    def names(self) -> list[str]:
        return sorted(self.manifest["parts"])

    def lines(self, name: str) -> list[Any]:
        """The values of one part; none where the bundle has no such part."""
        if name not in self.manifest["parts"]:
            return []
        with self.zip.open(name) as part:
            return [json.loads(line) for line in part]

    def one(self, name: str) -> dict[str, Any]:
        found = self.lines(name)
        if len(found) != 1 or not isinstance(found[0], dict):
            raise Unreadable(f"{name}: does not hold one value")
        return found[0]

    def digest_of(self, name: str) -> str:
        running = hashlib.sha256()
        with self.zip.open(name) as part:
            while piece := part.read(PIECE):
                running.update(piece)
        return running.hexdigest()


def opened(path: Path) -> Bundle:
    """Raises Unreadable, OSError."""
    file = path.open("rb")
    try:
        return Bundle(file, zipfile.ZipFile(file))
    except Exception as error:  # noqa: BLE001 - see _part_fault
        file.close()
        raise Unreadable(f"{path.name}: is no whole zip file: {error}") from None


def container_faults(bundle: Bundle) -> Iterator[str]:
    """Where the bytes are not those that were written: each part by its name, else the frame."""
    wrong = list(_part_faults(bundle))
    yield from wrong
    end = bundle.file.seek(0, 2) - DIGITS
    if not bundle.zip.comment.startswith(SEAL) or len(bundle.seal) != DIGITS:
        yield "the seal at the end: is not there"
    elif _digest_up_to(bundle.file, end) != bundle.seal and not wrong:
        yield "the frame of the file (names, sizes, dates or the seal): a byte of it was changed"


def _part_faults(bundle: Bundle) -> Iterator[str]:
    parts = bundle.manifest["parts"]
    there = [entry.filename for entry in bundle.zip.infolist()]
    for name in sorted({name for name in there if there.count(name) > 1}):
        yield f"{name}: is there more than once"
    for name in sorted(set(there) - set(parts) - {MANIFEST}):
        yield f"{name}: is not named in the manifest"
    for name, said in sorted(parts.items()):
        if name not in there:
            yield f"{name}: is missing"
        elif (fault := _part_fault(bundle, name, said)) is not None:
            yield f"{name}: {fault}"


def _part_fault(bundle: Bundle, name: str, said: Mapping[str, Any]) -> str | None:
    try:
        if bundle.digest_of(name) != said.get("sha256"):
            return "is not what the manifest's digest was made of"
    # Whatever unpacking changed bytes may raise, the bytes are to blame.
    except Exception as error:  # noqa: BLE001
        return f"cannot be unpacked: {error}"
    return None
