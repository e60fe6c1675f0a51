"""A drill's matrix as a table, and its report as JUnit: what a page shows and a build reads."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from runs.rules.crash_points import SAYS
from runs.rules.drill_report import CellState, DrillReport, DrillState, Struck

OUTSIDE = ("people", "the watch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A step; `short` is its number in the plan, or a letter for who is not in it."""

    name: str
    short: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """A cell and the number that a link to it carries."""

    number: int
    cell: Struck


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One fault, and what came of it in each column; None where nobody struck."""

    fault: str
    says: str
    cells: tuple[Numbered | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    cells: tuple[Numbered, ...]


def grid_of(report: DrillReport) -> Grid:
    """Faults down, steps across, both in the order in which a run comes to them."""
    cells = [Numbered(number=n, cell=cell) for n, cell in enumerate(report.matrix, start=1)]
    columns = _columns(report)
    at = {(one.cell.step, one.cell.fault): one for one in cells}
    faults = sorted({cell.fault for cell in report.matrix}, key=_order)
    rows = [
        Row(
            fault=fault.replace("_", " "),
            says=SAYS.get(fault, ""),  # type: ignore[call-overload]
            cells=tuple(at.get((column.name, fault)) for column in columns),
        )
        for fault in faults
    ]
    return Grid(columns=columns, rows=tuple(rows), cells=tuple(cells))


def _columns(report: DrillReport) -> tuple[Column, ...]:
    struck = {cell.step for cell in report.matrix}
    steps = [step for step in report.steps or sorted(struck) if step in struck]
    numbers = {step: str(n) for n, step in enumerate(report.steps or steps, start=1)}
    inside = [Column(name=step, short=numbers[step]) for step in steps if step not in OUTSIDE]
    outside = [Column(name=who, short=who.split()[-1][0].upper()) for who in OUTSIDE]
    return (*inside, *(column for column in outside if column.name in struck))


def _order(fault: str) -> tuple[int, str]:
    known = list(SAYS)
    return (known.index(fault) if fault in known else len(known), fault)


def junit(report: DrillReport) -> str:
    """A test case for each cell and each run without one; a drill that was aborted is an error."""
    cases = list(_cases(report))
    failures = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    errors = int(report.state is DrillState.ABORTED)
    name = quoteattr(f"drill {report.workflow} {report.version} on {report.database}")
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name={name} {counts}>'
    return "\n".join([head, *cases, "</testsuite>", ""])


def _cases(report: DrillReport) -> Iterator[str]:
    shown = set()
    for cell in report.matrix:
        shown.add(cell.run)
        yield _case(f"{cell.step}: {cell.fault}", _outcome(cell))
    for violation in report.violations:
        if violation.run not in shown or not violation.run:
            text = f"{violation.invariant}: {violation.text}"
            yield _case(text, f"<failure message={quoteattr(text)}/>")
    if report.aborted_because:
        yield _case("the drill", f"<error message={quoteattr(report.aborted_because)}/>")
    elif not report.matrix:
        yield _case("every run comes to its end", "")


def _case(name: str, outcome: str) -> str:
    return f'  <testcase classname="drill" name={quoteattr(name)}>{outcome}</testcase>'


def _outcome(cell: Struck) -> str:
    match cell.state:
        case CellState.VIOLATED:
            return f"<failure message={quoteattr(cell.sentence)}/>"
        case CellState.UNREACHED:
            return "<skipped/>"
    return f"<system-out>{escape(cell.sentence)}</system-out>"
