"""The list of runs as a table: its columns, and how they fold on a phone."""

import django_tables2 as tables

from runs.queries.pages_runs import Row


def _cell(name: str, heading: str, classes: str = "", **more: object) -> tables.TemplateColumn:
    return tables.TemplateColumn(
        template_name=f"runs/_run_{name}.html",
        verbose_name=heading,
        orderable=False,
        attrs={"td": {"class": classes}, "th": {"scope": "col"}},
        **more,
    )


class RunTable(tables.Table):  # type: ignore[misc]
    """Given a finished list of rows; it never pages, counts or sorts by itself."""

    state = _cell("state", "Status")
    workflow = _cell("workflow", "Workflow", "phone-hidden")
    reference = _cell("reference", "Reference")
    step = _cell("step", "Step", "phone-hidden nowrap")
    why = _cell("why", "Why", "why phone-line")
    attempts = _cell("attempts", "Failed", "number phone-hidden")
    started = _cell("started", "Started", "nowrap")
    duration = _cell("duration", "Lasted", "number nowrap phone-hidden")

    class Meta:
        template_name = "_table.html"
        attrs = {"class": "table cards", "id": "runs"}
        row_attrs = {"id": lambda record: _row_id(record), "data-row": "", "role": "row"}


def _row_id(record: Row) -> str:
    return f"run-{record.run.pk}"
