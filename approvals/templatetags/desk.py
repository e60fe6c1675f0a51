"""Text as a stranger wrote it, with what would not be seen made visible; cells of a list."""

import json
from typing import Any

from django import template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from approvals.rules.columns import Cell, said
from approvals.rules.unseen import pieces_of

register = template.Library()
LINE = frozenset[str]()


@register.filter
def seen(text: object) -> SafeString:
    """Lines stay lines; every other control, bidirectional or blank character is named."""
    return _marked(str(text), keep=frozenset("\n\t"))


@register.filter
def seen_in_line(text: object) -> SafeString:
    """The same on one line: line ends are named too."""
    return _marked(str(text), keep=LINE)


def _marked(text: str, *, keep: frozenset[str]) -> SafeString:
    html = "".join(
        format_html('<span class="tag tag-danger" title="{}">{}</span>', piece.name, piece.text)
        if piece.name
        else conditional_escape(piece.text)
        for piece in pieces_of(text, keep=keep)
    )
    # Every piece was escaped above.
    return format_html("<bdi>{}</bdi>", mark_safe(html))  # noqa: S308


@register.filter
def value(given: Any) -> SafeString:
    """One value of some evidence in words, or as JSON over several lines."""
    if given == [] or given == {}:
        return SafeString("none")
    if isinstance(given, dict) or (isinstance(given, list) and said(given)[:1] == "["):
        return seen(json.dumps(given, indent=2, ensure_ascii=False))
    return seen(said(given))


@register.filter
def in_words(name: str) -> str:
    """What an author or the engine calls a part of the evidence, for people."""
    return name.replace("_", " ")


@register.filter
def columns_of_rows(given: Any) -> list[str]:
    """The columns of a list of like records, in the order they are first named; else none."""
    if not isinstance(given, list) or not all(isinstance(row, dict) for row in given):
        return []
    return list(dict.fromkeys(name for row in given for name in row))


@register.filter
def under(row: dict[str, Any], name: str) -> SafeString:
    """What one record says under one column."""
    return value(row[name]) if name in row else SafeString("")


@register.simple_tag
def cell(cells: dict[str, Cell], name: str) -> SafeString:
    """What one call's evidence says under one name, and how much of it was cut away."""
    found = cells.get(name)
    return one_cell(found) if found else SafeString("")


@register.simple_tag
def one_cell(found: Cell) -> SafeString:
    """A text on one line, and how much of it was cut away."""
    if not found.length:
        return SafeString("")
    if not found.cut:
        return seen_in_line(found.text)
    note = f"… {len(found.text):,} of {found.length:,} characters"
    return format_html('{} <span class="muted">{}</span>', seen_in_line(found.text), note)
