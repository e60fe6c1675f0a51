"""Beat bars and shares, as templates write them."""

from collections.abc import Sized

from django import template

from monitors.rules.bars import STEP

register = template.Library()


@register.filter
def bars_width(bars: Sized) -> int:
    return max(len(bars) * STEP - 1, 1)


@register.filter
def percent(share: float) -> str:
    """99.95 % is not 100 %: what was missed stays visible."""
    whole = share * 100
    return "100 %" if share >= 1 else f"{min(whole, 99.99):.2f} %".replace(".00 %", " %")
