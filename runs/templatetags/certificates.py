"""How the evidence of a certificate reads, and where it leads to."""

import re

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

COMMAND = re.compile("`([^`]+)`")
PAGES = {"run": "runs:run_show", "drill": "runs:drill_show"}


@register.filter
def leads_to(about: str) -> str:
    """The address behind "step:KEY", "run:ID" or "drill:ID"; nothing where there is none."""
    kind, _, name = about.partition(":")
    if kind == "step":
        return f"#plan-{name}"
    if not name or kind not in PAGES:
        return ""
    try:
        return reverse(PAGES[kind], args=[name])
    except NoReverseMatch:
        return ""


@register.filter
def with_commands(text: str) -> SafeString:
    """Evidence as text, with each command that it tells to run as one."""
    parts = enumerate(COMMAND.split(text))
    said = (format_html("<code>{}</code>", part) if at % 2 else part for at, part in parts)
    return format_html_join("", "{}", ((part,) for part in said))


@register.filter
def called(about: str) -> str:
    """What the link to it says: "step pay", "the drill", "the run"."""
    kind, _, name = about.partition(":")
    return f"step {name}" if kind == "step" else f"the {kind}"
