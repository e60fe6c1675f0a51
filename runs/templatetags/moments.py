"""Times and durations, in the zone the reader chose, with the absolute time always at hand."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from runs.rules import words

register = template.Library()


@register.simple_tag(takes_context=True)
def moment(context: dict[str, Any], value: datetime | None, empty: str = "—") -> SafeString:
    """When it happened: the clock time today, the date before that."""
    if value is None:
        return format_html('<span class="muted">{}</span>', empty)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        value.isoformat(),
        absolute(value),
        clock(value, now=now_in(context)),
    )


@register.simple_tag(takes_context=True)
def age(context: dict[str, Any], value: datetime | None, empty: str = "—") -> SafeString:
    """How long ago, or how long until; live.js keeps counting."""
    if value is None:
        return format_html('<span class="muted">{}</span>', empty)
    distance = now_in(context) - value
    return format_html(
        '<time datetime="{}" title="{}" data-age>{}</time>',
        value.isoformat(),
        absolute(value),
        words.span(abs(distance)),
    )


@register.filter
def duration(value: timedelta | float | None) -> str:
    return "—" if value is None else words.span(value)


@register.filter
def hour_of(value: datetime) -> str:
    """The hour that begins then; with its minutes where the reader's zone is apart by a part of one."""
    local = timezone.localtime(value)
    return local.strftime("%H:%M" if local.minute else "%H")


@register.simple_tag
def hour_span(hour: Any) -> str:
    """From when until when, and on which day."""
    start, end = timezone.localtime(hour.start), timezone.localtime(hour.end)
    return f"{start:%d %b %H:%M} to {end:%H:%M}"


def now_in(context: dict[str, Any]) -> datetime:
    now = context.get("now")
    return now if isinstance(now, datetime) else timezone.now()


def clock(value: datetime, *, now: datetime) -> str:
    local, today = timezone.localtime(value), timezone.localtime(now)
    if local.date() == today.date():
        return local.strftime("%H:%M:%S")
    if local.year == today.year:
        return local.strftime("%d %b %H:%M")
    return local.strftime("%Y-%m-%d %H:%M")


def absolute(value: datetime) -> str:
    exact = value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    local = timezone.localtime(value)
    return exact if local.utcoffset() == timedelta(0) else f"{local:%Y-%m-%d %H:%M:%S %Z} ({exact})"
