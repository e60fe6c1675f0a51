"""Where the evidence of a certificate leads to."""

from django import template
from django.urls import NoReverseMatch, reverse

register = template.Library()

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
def called(about: str) -> str:
    """What the link to it says: "step pay", "the drill", "the run"."""
    kind, _, name = about.partition(":")
    return f"step {name}" if kind == "step" else f"the {kind}"
