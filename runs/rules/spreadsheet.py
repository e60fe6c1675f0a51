"""Lines of a file that people open as a spreadsheet."""

import csv
import io
from collections.abc import Sequence

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([_harmless(cell) for cell in cells])
    return out.getvalue()


def _harmless(cell: str) -> str:
    """A spreadsheet must not take a stranger's text for a formula."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell
