"""Which apps have pages of their own below the first address."""

from importlib.util import find_spec

APPS = ("runs", "approvals", "monitors")


def apps_with_pages() -> list[str]:
    return [app for app in APPS if find_spec(f"{app}.urls")]
