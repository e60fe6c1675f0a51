"""Where a channel is to lead, read from what a person typed: what may be shown, and what is sealed."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from runs.channels import apprised, web_call
from runs.rules.channels import ChannelKind, ChannelRefused, Led

MOST_PEOPLE = 20
SHOWN = 300


def read(kind: str, text: str, *, schemes: Sequence[str]) -> Led:
    """Nothing is resolved or sent: a test of the channel does that. Raises ChannelRefused."""
    said = text.strip()
    try:
        match ChannelKind(kind):
            case ChannelKind.MAIL:
                return _people(said)
            case ChannelKind.WEBHOOK:
                place = urlsplit(web_call.parsed(said).geturl())
                return Led(target=f"{place.scheme}://{place.netloc}/…"[:SHOWN], address=said)
            case ChannelKind.APPRISE:
                return _service(said, schemes=schemes)
    except (ValueError, ValidationError) as wrong:
        raise ChannelRefused({"address": _sentence(wrong)}) from None


def _people(text: str) -> Led:
    people = [part for part in text.replace(",", " ").split() if part]
    if not 1 <= len(people) <= MOST_PEOPLE:
        raise ValueError(f"Say 1 to {MOST_PEOPLE} addresses, with spaces or commas between.")
    for each in people:
        validate_email(each)
    whole = ", ".join(people)
    if len(whole) > SHOWN:
        raise ValueError(f"Together they are longer than {SHOWN} characters.")
    return Led(target=whole, address=whole)


def _service(text: str, *, schemes: Sequence[str]) -> Led:
    scheme = apprised.scheme_of(text, allowed=schemes)
    if not apprised.understood(text):
        raise ValueError(f"apprise cannot read this address of {scheme}://; see its documentation.")
    return Led(target=f"{scheme}://…", address=text)


def _sentence(wrong: ValueError | ValidationError) -> str:
    return " ".join(wrong.messages) if isinstance(wrong, ValidationError) else str(wrong)
