"""The settings of monitors: whether a proxy stands before this server."""

from django.conf import settings


def behind_proxy() -> bool:
    """Only then is it believed whose address the proxy has written down."""
    return bool(settings.SECURE_PROXY_SSL_HEADER)
