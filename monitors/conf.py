"""The settings of monitors: whether a proxy stands before this server, and how much one key may make."""

from django.conf import settings


def behind_proxy() -> bool:
    """Only then is it believed whose address the proxy has written down."""
    return bool(settings.SECURE_PROXY_SSL_HEADER)


def monitors_per_key() -> int:
    """How many monitors the pings of one key may make by `create=1`."""
    return int(settings.PING_KEY_MONITORS)
