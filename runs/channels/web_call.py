"""One POST to an address outside, over a connection that was checked; no redirect is followed."""

import http.client
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from runs.channels import guard
from runs.channels.notice import READ
from runs.rules.addresses import Network


class BadAddress(ValueError):
    """Nothing can be sent to such an address; the message says what it lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the receiver said, from its beginning."""

    status: int
    body: bytes
    retry_after: str


def parsed(url: str) -> SplitResult:
    """An address that can be posted to. Raises BadAddress."""
    try:
        found = urlsplit(url)
        port = found.port
    except ValueError:
        raise BadAddress("That is no address.") from None
    if found.scheme not in ("http", "https") or not found.hostname:
        raise BadAddress("Say an address that starts with https:// and names a host.")
    if found.username is not None or found.password is not None:
        raise BadAddress("Leave user and password out of it: the signature says who sends.")
    if port == 0 or not url.isascii() or not url.isprintable() or " " in url:
        raise BadAddress("That is no address: it holds what no address may hold.")
    return found


def post(
    url: str,
    body: bytes,
    *,
    headers: Mapping[str, str],
    allowed: Sequence[Network],
    seconds: float,
) -> Answered:
    """Raises OSError or http.client.HTTPException when nothing came back."""
    to = parsed(url)
    connection = _Checked(to, allowed=allowed, seconds=seconds)
    try:
        path = (to.path or "/") + (f"?{to.query}" if to.query else "")
        connection.request("POST", path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        return Answered(
            status=answer.status,
            body=answer.read(READ),
            retry_after=answer.headers.get("Retry-After", ""),
        )
    finally:
        connection.close()


class _Checked(http.client.HTTPConnection):
    """Connects to an address that was checked, and speaks TLS under the name that was asked for."""

    def __init__(self, to: SplitResult, *, allowed: Sequence[Network], seconds: float) -> None:
        self.name = str(to.hostname)
        self.secure = to.scheme == "https"
        self.default_port = 443 if self.secure else 80
        super().__init__(self.name, to.port, timeout=seconds)
        self.allowed = allowed
        self.seconds = seconds

    def connect(self) -> None:
        plain = guard.connected(self.name, self.port, allowed=self.allowed, seconds=self.seconds)
        self.sock: socket.socket = self._with_tls(plain) if self.secure else plain

    def _with_tls(self, plain: socket.socket) -> socket.socket:
        try:
            return ssl.create_default_context().wrap_socket(plain, server_hostname=self.name)
        except BaseException:
            plain.close()
            raise
