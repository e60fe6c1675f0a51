"""The list of a settled inbox: one line a message, read lazily however long it is."""

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, overload


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One message of a settled inbox."""

    ordinal: int
    id: str
    file: str
    sender: str
    subject: str
    text: str
    label: str


class Index(Sequence[Entry]):
    """The entries in order; only their places are held in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("Q")
        with path.open("rb") as stream:
            start = 0
            for line in stream:
                self._starts.append(start)
                start += len(line)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, wanted: int) -> Entry: ...
    @overload
    def __getitem__(self, wanted: slice) -> list[Entry]: ...
    def __getitem__(self, wanted: int | slice) -> Entry | list[Entry]:
        with self._path.open("rb") as stream:
            if isinstance(wanted, slice):
                return [self._entry(stream, start) for start in self._starts[wanted]]
            return self._entry(stream, self._starts[wanted])

    @staticmethod
    def _entry(stream: BinaryIO, start: int) -> Entry:
        stream.seek(start)
        return Entry(**json.loads(stream.readline()))
