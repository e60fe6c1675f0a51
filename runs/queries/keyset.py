"""A slice of a long list, found by where the last one ended; never by counting past rows."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Field, Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The row a slice starts beside, and the side: `back` reads towards the top of the list."""

    value: str
    pk: str
    back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice(Generic[Row]):
    """Rows in list order, and where the neighbouring slices start, if there are any."""

    rows: list[Row]
    newer: Position | None = None
    older: Position | None = None


def slice_of(
    rows: QuerySet[Row], *, by: str, position: Position | None, size: int, descending: bool = True
) -> Slice[Row]:
    """`size` rows ordered by (`by`, primary key), beside `position`."""
    back = position is not None and position.back
    downwards = descending != back
    if position is not None:
        rows = rows.filter(_beyond(_field(rows, by), by, position, downwards=downwards))
    sign = "-" if downwards else ""
    found = list(rows.order_by(f"{sign}{by}", f"{sign}pk")[: size + 1])
    more, found = len(found) > size, found[:size]
    if back:
        found.reverse()
    before = more if back else position is not None
    after = position is not None if back else more
    return Slice(
        rows=found,
        newer=_beside(found[0], by, back=True) if found and before else None,
        older=_beside(found[-1], by, back=False) if found and after else None,
    )


def _field(rows: QuerySet[Row], by: str) -> object:
    """What `by` is in the database; a column of a joined row is known by its annotation."""
    joined: Any = rows.query.annotations.get(by)
    return joined.output_field if joined else rows.model._meta.get_field(by)


def _beyond(field: object, by: str, position: Position, *, downwards: bool) -> Q:
    value = field.to_python(position.value) if isinstance(field, Field) else position.value
    side = "lt" if downwards else "gt"
    # The last term looks redundant; without it the planner does not start inside the index.
    return (Q(**{f"{by}__{side}": value}) | Q(**{by: value, f"pk__{side}": position.pk})) & Q(
        **{f"{by}__{side}e": value}
    )


def _beside(row: Any, by: str, *, back: bool) -> Position:
    value = getattr(row, by)
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return Position(value=text, pk=str(row.pk), back=back)


def count_up_to(rows: QuerySet[Any], *, cap: int = 10_000) -> int:
    """How many rows there are, counted no further than one past `cap`."""
    return rows.order_by().values("pk")[: cap + 1].count()
