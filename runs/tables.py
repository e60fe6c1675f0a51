"""The list of runs as a table: which columns it has, in which order."""

from collections.abc import Sequence

import django_tables2 as tables

from runs.queries.pages_runs import Row


def _column(heading: str, classes: str = "") -> tables.Column:
    return tables.Column(verbose_name=heading, orderable=False, attrs={"td": {"class": classes}})


class RunTable(tables.Table):  # type: ignore[misc]
    """Given a finished list of rows; it never pages, counts or sorts by itself.

    Its template draws a row at once: a template for each cell took most of the page's time.
    """

    state = _column("Status")
    workflow = _column("Workflow")
    reference = _column("Reference")
    step = _column("Step")
    why = _column("Why")
    attempts = _column("Failed", "number")
    started = _column("Started")
    duration = _column("Lasted", "number")

    class Meta:
        template_name = "runs/_run_table.html"

    def __init__(self, rows: Sequence[Row], *, by: str, selectable: bool) -> None:
        super().__init__(rows)
        self.sorted_by, self.selectable = by, selectable
