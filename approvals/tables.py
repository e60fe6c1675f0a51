"""The calls of a list as a table: its columns are those that the evidence names."""

from typing import Any

import django_tables2 as tables

from approvals.queries.calls import CallRow, CallsPage


def _cell(part: str, heading: str, classes: str = "", **context: object) -> tables.TemplateColumn:
    return tables.TemplateColumn(
        template_name=f"approvals/_call_{part}.html",
        verbose_name=heading,
        orderable=False,
        extra_context=context,
        attrs={"td": {"class": classes, **_label(part, heading)}, "th": {"scope": "col"}},
    )


def _label(part: str, heading: str) -> dict[str, str]:
    """On a phone the headings are gone, so what has no look of its own says its name."""
    return {"data-label": heading} if part in ("evidence", "request") else {}


class CallTable(tables.Table):  # type: ignore[misc]
    """Given a finished list of calls; it never pages, counts or sorts by itself."""

    class Meta:
        template_name = "_table.html"
        attrs = {"class": "table table-top cards", "id": "planned"}
        row_attrs = {
            "id": lambda record: f"call-{record.ordinal}",
            "class": lambda record: "row-muted" if record.struck else "",
            "data-row": "",
            "role": "row",
        }


def call_table(page: CallsPage, **context: Any) -> CallTable:
    """`context` is what the cells need beside their row: the decision, whether one may strike."""
    columns = [("resource", _cell("resource", "Call", "", many=len(page.effects) > 1, **context))]
    if page.columns:
        columns.append(("request", _cell("request", "Request", "phone-line written")))
    columns += [
        (f"evidence_{number}", _cell("evidence", name, "phone-line written", name=name))
        for number, name in enumerate(page.columns)
    ]
    if context.get("may_strike"):
        columns.append(("strike", _cell("strike", "Strike off", "nowrap phone-line", **context)))
    rows: list[CallRow] = page.rows
    return CallTable(rows, extra_columns=columns)
