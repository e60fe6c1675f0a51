"""Where the process of a channel may connect: what was checked is what is connected to.

A name is resolved once, its addresses are checked, and one of them is connected to; a resolver that
answers otherwise a moment later is not asked again. Code that is not ours is confined by an audit
hook, which sees every connection of this process whoever makes it, redirects included.
"""

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runs.rules.addresses import AddressRefused, Network, why_refused

CONNECTS = frozenset(["socket.connect", "socket.sendto", "socket.sendmsg"])
# A channel has no business in other programs.
PROGRAMS = frozenset(
    [
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    ]
)
# What any program reads to find its way; everything else of this machine is none of its business.
READABLE = tuple(
    str(Path(place).resolve())
    for place in (
        sys.prefix,
        sys.base_prefix,
        "/etc/ca-certificates",
        "/etc/host.conf",
        "/etc/hosts",
        "/etc/localtime",
        "/etc/mime.types",
        "/etc/nsswitch.conf",
        "/etc/pki",
        "/etc/resolv.conf",
        "/etc/services",
        "/etc/ssl",
        "/usr/lib/ssl",
        "/usr/share/ca-certificates",
        "/usr/share/zoneinfo",
    )
)


class Confinement:
    """What is allowed at the moment, and what was refused meanwhile."""

    def __init__(self) -> None:
        self.allowed: Sequence[Network] | None = None
        self.private: tuple[str, ...] = ()
        self.refused: list[str] = []
        self.hooked = False

    def heed(self, event: str, args: tuple[Any, ...]) -> None:
        """The audit hook: Python calls it, from every thread, before it does what `event` names."""
        if self.allowed is None:
            return
        because = ""
        if event in CONNECTS:
            because = self._why_not_to(args[1])
        elif event in PROGRAMS:
            because = "it would start a program"
        elif event == "open":
            because = self._why_not_open(*args[:3])
        if because:
            self.refused.append(because)
            raise AddressRefused(f"Refused: {because}.")

    def _why_not_to(self, address: Any) -> str:
        if address is None:
            return ""  # A datagram of a socket that was connected, and checked then.
        if not isinstance(address, tuple):
            return "it would talk to this machine itself"
        host = address[0]
        # A name would be resolved behind our back; whoever connects has to bring an address.
        because = why_refused(str(host), allowed=self.allowed or ())
        return f"it would reach an address that is {because}" if because else ""

    def _why_not_open(self, path: Any, mode: Any, flags: Any) -> str:
        if isinstance(path, int) or path is None:
            return ""
        name = os.path.realpath(os.fsdecode(path))
        if name in ("/dev/null", "/dev/urandom"):
            return ""
        if set(str(mode or "")) & set("wax+") or int(flags or 0) & (os.O_WRONLY | os.O_RDWR):
            return "it would write a file"
        if any(_is_within(name, place) for place in self.private):
            return "it would read a file of this installation"
        return "" if any(_is_within(name, place) for place in READABLE) else "it would read a file"


def _is_within(name: str, place: str) -> bool:
    return name == place or name.startswith(place.rstrip("/") + "/")


_confinement = Confinement()


@contextmanager
def confined(*, allowed: Sequence[Network], private: Sequence[str] = ()) -> Iterator[list[str]]:
    """Nothing in this process connects elsewhere, reads other files or starts a program meanwhile.

    Gives what was refused. An audit hook cannot be taken back, so it is added once, when needed.
    """
    if not _confinement.hooked:
        sys.addaudithook(_confinement.heed)
        _confinement.hooked = True
    _confinement.refused = []
    _confinement.private = tuple(str(Path(place).resolve()) for place in private)
    _confinement.allowed = allowed
    try:
        yield _confinement.refused
    finally:
        _confinement.allowed = None


def connected(host: str, port: int, *, allowed: Sequence[Network], seconds: float) -> socket.socket:
    """A connection to one of the host's addresses that may be reached. Raises AddressRefused.

    A name without an address, and one whose addresses are all refused, say the same: what is known
    inside a network is not told by trying.
    """
    last: OSError | None = None
    for family, address in _addresses(host, port, allowed=allowed):
        made = socket.socket(family, socket.SOCK_STREAM)
        made.settimeout(seconds)
        try:
            made.connect(address)
        except OSError as error:
            made.close()
            last = error
        else:
            return made
    if last is not None:
        raise last
    raise AddressRefused(
        f"No public address is known for {host}. Networks of your own that channels may reach are "
        "named in CHANNEL_NETWORKS."
    )


def _addresses(host: str, port: int, *, allowed: Sequence[Network]) -> list[tuple[int, Any]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [
        (family, address)
        for family, _, _, _, address in found
        if not why_refused(str(address[0]), allowed=allowed)
    ]
