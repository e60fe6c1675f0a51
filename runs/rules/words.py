"""How durations, sizes and counts are said to people."""

from datetime import timedelta

UNITS = (("d", 86_400, "h", 3_600), ("h", 3_600, "m", 60), ("m", 60, "s", 1))


def span(value: timedelta | float) -> str:
    """Two units at most: 3 h 12 m, 42 s, 120 ms."""
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    for unit, length, below, smaller in UNITS:
        if whole >= length:
            rest = whole % length // smaller
            return f"{whole // length} {unit}" + (f" {rest} {below}" if rest else "")
    return f"{whole} s"


def size(amount: int) -> str:
    """Bytes for people: 312 KB."""
    if amount < 1024:
        return f"{amount} B"
    value, unit = amount / 1024, "KB"
    for larger in ("MB", "GB"):
        if value < 1000:
            break
        value, unit = value / 1024, larger
    return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"


def capped(amount: int, cap: int) -> str:
    """A count that was not taken to the end says so."""
    return f"{cap:,}+" if amount > cap else f"{amount:,}"


def of(amount: int, one: str, many: str = "") -> str:
    """3 calls, 1 call."""
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"
