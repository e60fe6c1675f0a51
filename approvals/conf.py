"""The settings of decisions: at which address people find them."""

from django.conf import settings


def site() -> str:
    """Where the pages answer, without a slash at the end; for links in mail."""
    told = getattr(settings, "SITE_URL", "")
    return str(told).rstrip("/") or f"http://{settings.HOST}:{settings.PORT}"
