"""What a reader may choose: theme, times, density, keys, and where they land after signing in."""

from collections.abc import Container, Mapping

THEMES = ("system", "light", "dark")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "theme": THEMES,
    "time": ("utc", "local"),
    "density": ("normal", "compact"),
    "keys": ("on", "off"),
    "landing": ("needs", "runs", "decisions", "monitors", "alerts", "workflows", "schedules"),
}
# A zone of one's own in place of the device's; empty goes back to that one.
PLACE = "place"


def chosen(said: Mapping[str, str], *, zones: Container[str]) -> dict[str, str]:
    """Of what was sent, what may be chosen; anything else is left out."""
    found = {name: said[name] for name, allowed in CHOICES.items() if said.get(name) in allowed}
    place = said.get(PLACE)
    if place is not None and (place == "" or place in zones):
        found[PLACE] = place
    return found
