"""Two legs of the suite at the same time, readable: every whole line says which leg it belongs to."""

import os
from typing import TextIO

import pytest


class Labelled:
    """A stream that passes on whole lines only, each with a label before it."""

    def __init__(self, stream: TextIO, label: str) -> None:
        self._stream, self._label, self._begun = stream, label, ""

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        # One write a line: the other leg writes to the same place.
        for line in lines:
            self._stream.write(f"{self._label} {line}\n")
            self._stream.flush()
        return len(text)

    def flush(self) -> None:
        """A line that is still growing is kept until it is whole."""

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._stream.fileno()


def label_lines(config: pytest.Config) -> None:
    """Label what the runner says, if the Makefile has given this leg a LABEL."""
    if label := os.environ.get("LABEL"):
        writer = config.get_terminal_writer()
        writer._file = Labelled(writer._file, label)
