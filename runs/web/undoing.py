"""What is done at once is said with a way back, which stands on the next page for ten seconds."""

from django.contrib import messages
from django.http import HttpRequest

from runs.rules.ways_back import WayBack


def said(request: HttpRequest, sentence: str, back: WayBack | None) -> None:
    """The way back is a plain form of the opposite, under the same policy as any other."""
    messages.success(request, sentence, extra_tags=back.to_text() if back else "")
