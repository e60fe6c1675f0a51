"""Services that the apprise library knows: chat, paging, SMS; confined while its code runs."""

import os
import warnings
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from re import split
from typing import Any
from urllib.parse import unquote

from runs.channels import guard
from runs.channels.notice import READ, NotDelivered, Notice, shown
from runs.rules.addresses import Network

SECONDS = 20
# What reaches this machine instead of people, whatever the setting says.
LOCAL = frozenset(
    ["blink1", "dbus", "gio", "glib", "gnome", "growl", "kde", "macosx", "qt", "syslog", "windows"]
)
KINDS = {"info": "info", "warning": "warning", "critical": "failure", "recovery": "success"}


class SchemeRefused(ValueError):
    """The administrator has to allow this service first, by CHANNEL_SCHEMES."""


def scheme_of(url: str, *, allowed: Sequence[str]) -> str:
    """Which service an address is for. Raises SchemeRefused."""
    scheme, found, _ = url.strip().partition("://")
    scheme = scheme.lower()
    if not found or not scheme.isalnum():
        raise SchemeRefused("Say an address of apprise, such as slack://….")
    if scheme in LOCAL:
        raise SchemeRefused(f"{scheme}:// reaches this machine, not people.")
    if scheme not in allowed:
        known = ", ".join(sorted(set(allowed) - LOCAL)) or "none"
        raise SchemeRefused(f"{scheme}:// is not allowed by CHANNEL_SCHEMES, which says: {known}.")
    return scheme


def understood(url: str) -> bool:
    """Whether apprise can read this address; nothing is sent."""
    return _service(url) is not None


def deliver(
    notice: Notice,
    url: str,
    *,
    schemes: Sequence[str],
    networks: Sequence[Network],
    private: Sequence[str],
) -> str:
    """What the service answered. Raises NotDelivered.

    `private` are places of this machine that its code may not read.
    """
    try:
        scheme_of(url, allowed=schemes)
    except SchemeRefused as refused:
        raise NotDelivered(str(refused)) from None
    _without_proxies()
    _library()
    with guard.confined(allowed=networks, private=private) as refused_here, _listening() as heard:
        service = _service(url)
        sent = service is not None and _notified(service, notice)
    said = " · ".join(shown(each, secrets=_secrets_of(url)) for each in heard)
    if refused_here:
        raise NotDelivered(f"Refused: {refused_here[0]}.", answer="")
    if service is None:
        raise NotDelivered("apprise cannot read this address.")
    if not sent:
        reason = "The service did not take it" + ("." if said else ", and nothing came back.")
        raise NotDelivered(reason, answer=said)
    return said or "the service took it"


def _service(url: str) -> Any:
    library = _library()
    asset = library.AppriseAsset(
        app_id="Milepost",
        app_desc="Milepost",
        allow_templates=False,
        async_mode=False,
        http_redirects=False,
        pem_autogen=False,
        pgp_autogen=False,
        secure_logging=True,
        service_timeout=SECONDS,
        storage_mode="memory",
    )
    return library.Apprise.instantiate(url, asset=asset)


def _notified(service: Any, notice: Notice) -> bool:
    kind = _library().NotifyType(KINDS[notice.severity])
    body = f"{notice.link}\nNotice {notice.id}"
    return bool(service.notify(title=notice.title, body=body, notify_type=kind))


@cache
def _library() -> Any:
    """Loaded where it is first needed, with all it knows, before anything is confined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import apprise

        apprise.Apprise.instantiate("none://of.them")
    return apprise


def _without_proxies() -> None:
    """A proxy would connect on our behalf, to addresses that nobody checked."""
    for name in list(os.environ):
        if name.lower() in ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy"):
            del os.environ[name]


@contextmanager
def _listening() -> Iterator[list[str]]:
    """What the receivers answer, whatever the library makes of it: status, and how it begins."""
    import requests

    heard: list[str] = []
    send = requests.Session.send

    def listened(self: requests.Session, request: Any, **more: Any) -> requests.Response:
        answer = send(self, request, **more)
        begins = "" if more.get("stream") else answer.content[:READ].decode(errors="replace")
        heard.append(f"{answer.status_code} {begins}".rstrip())
        return answer

    requests.Session.send = listened  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        requests.Session.send = send  # type: ignore[method-assign]


def _secrets_of(url: str) -> list[str]:
    """Every part of such an address may be a token, also as a receiver gets to see it."""
    _, _, rest = url.partition("://")
    parts = split(r"[/@:?&=,#]", rest)
    who = rest.rpartition("@")[0]
    basic = b64encode(unquote(who).encode()).decode() if who else ""
    return [url, rest, who, basic, *parts, *(unquote(part) for part in parts)]
