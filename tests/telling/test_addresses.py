"""What a channel may reach: public addresses only, checked where the connection is made."""

import socket
from collections.abc import Callable
from typing import Any

import pytest

from runs.channels import apprised, guard, webhook
from runs.channels.notice import NotDelivered, Notice
from runs.queries.clock import db_now
from runs.rules.addresses import AddressRefused, networks_of, why_refused
from runs.rules.signatures import new_secret
from tests.telling.conftest import Serve, say

NOTICE = Notice(id="n-1", kind="test", title="A title", link="https://here/x/", severity="warning")
HERE = networks_of(["127.0.0.0/8"])


@pytest.mark.one_database
@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "2606:4700::1111",
        "2a00:1450:4001::200e",
        "::ffff:8.8.8.8",
    ],
)
def test_a_public_address_may_be_reached(address: str) -> None:
    assert why_refused(address) == ""


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.8.8.8", "loopback"),
        ("::1", "loopback"),
        ("0.0.0.0", "unspecified"),  # noqa: S104
        ("::", "unspecified"),
        ("0.1.2.3", "this network"),
        ("10.0.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("169.254.169.254", "metadata"),
        ("fd00:ec2::254", "metadata"),
        ("100.100.100.200", "metadata, in CGNAT"),
        ("192.0.0.192", "metadata"),
        ("168.63.129.16", "metadata, though public"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local with a scope"),
        ("fec0::1", "site-local"),
        ("100.64.0.1", "CGNAT"),
        ("100.127.255.255", "CGNAT"),
        ("64:ff9b::808:808", "NAT64"),
        ("64:ff9b:1::a00:1", "NAT64, local"),
        ("2002:7f00:1::1", "6to4"),
        ("192.88.99.1", "6to4 relay"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
        ("2606:4700::200:5efe:a00:1", "ISATAP"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("ff02::1", "multicast"),
        ("ff0e::1", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("192.0.2.1", "documentation"),
        ("198.51.100.1", "documentation"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("198.18.0.1", "benchmarks"),
        ("100::1", "discard"),
        ("5f00::1", "segment routing"),
        ("::ffff:127.0.0.1", "mapped loopback"),
        ("::ffff:169.254.169.254", "mapped metadata"),
        ("::ffff:10.0.0.1", "mapped private"),
        ("::127.0.0.1", "compatible loopback"),
        ("::ffff:0:127.0.0.1", "translated loopback"),
        ("127.1", "short"),
        ("0x7f000001", "hexadecimal"),
        ("2130706433", "one number"),
        ("localhost", "a name"),
        ("", "nothing"),
    ],
)
def test_every_other_address_is_refused(address: str, kind: str) -> None:
    assert why_refused(address), kind


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("address", "reached"),
    [("10.1.2.3", True), ("::ffff:10.1.2.3", True), ("10.2.0.1", False), ("fd00::5", True)],
)
def test_a_network_that_the_setting_names_may_be_reached(address: str, reached: bool) -> None:
    allowed = networks_of(["10.1.0.0/16", "fd00::/8"])

    assert (why_refused(address, allowed=allowed) == "") is reached


def by_webhook(url: str, *, allowed: Any = ()) -> str:
    endpoint = webhook.Endpoint(url=url, secrets=[new_secret()])
    return webhook.deliver(NOTICE, endpoint, allowed=allowed, now=db_now())


def by_apprise(url: str, *, allowed: Any = ()) -> str:
    return apprised.deliver(
        NOTICE, url.replace("http", "json", 1), schemes=["json"], networks=allowed, private=[]
    )


WAYS = pytest.mark.parametrize("way", [by_webhook, by_apprise])
Way = Callable[..., str]


def a_server(serve: Serve) -> tuple[str, list[str]]:
    came: list[str] = []

    def answer(handler: Any) -> None:
        came.append(handler.path)
        say(handler, 200, "thanks")

    return serve(answer), came


@WAYS
@pytest.mark.django_db
def test_this_machine_is_not_reached_unless_it_is_allowed(way: Way, serve: Serve) -> None:
    url, came = a_server(serve)

    with pytest.raises(NotDelivered):
        way(url)
    assert not came

    assert way(url, allowed=HERE).startswith("200 thanks")
    assert came


@WAYS
@pytest.mark.django_db
def test_a_redirect_to_this_machine_is_not_followed(
    way: Way, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, came = a_server(serve)
    outside = serve(lambda handler: say(handler, 302, Location=f"{inside}/secret"))

    with pytest.raises(NotDelivered):
        way(outside, allowed=HERE)

    assert not came


@pytest.mark.django_db
def test_a_redirect_that_a_library_does_follow_is_refused_where_it_connects(serve: Serve) -> None:
    inside, came = a_server(serve)
    port = inside.rpartition(":")[2]
    outside = serve(lambda handler: say(handler, 307, Location=f"http://127.9.9.9:{port}/secret"))

    with pytest.raises(NotDelivered, match="this machine itself"):
        by_apprise(f"{outside}/?redirect=yes", allowed=networks_of(["127.0.0.1/32"]))

    assert not came


@pytest.mark.django_db
def test_a_name_that_resolves_otherwise_the_second_time_is_connected_to_as_it_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: the first answer is allowed, every later one would be this machine."""
    answers, reached = iter(["203.0.113.9", "127.0.0.1", "127.0.0.1"]), []

    def resolve(_: Any, port: Any, *__: Any, **___: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    def connect(_: socket.socket, address: Any) -> None:
        reached.append(address[0])
        raise ConnectionRefusedError("nobody is there")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket.socket, "connect", connect)

    with pytest.raises(NotDelivered):
        by_webhook("http://rebound.example:8080", allowed=networks_of(["203.0.113.0/24"]))
    monkeypatch.undo()

    assert reached == ["203.0.113.9"]


@pytest.mark.django_db
def test_a_rebound_name_is_refused_by_the_process_itself(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, came = a_server(serve)
    port = int(url.rpartition(":")[2])
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)

    with pytest.raises(NotDelivered, match="this machine itself"):
        by_apprise(f"http://rebound.example:{port}")

    assert not came


@pytest.mark.one_database
def test_a_name_that_is_not_there_and_one_that_is_inside_say_the_same() -> None:
    said = []
    for host in ("localhost", "no-such-host.invalid"):
        with pytest.raises(AddressRefused) as refused:
            guard.connected(host, 80, allowed=(), seconds=1)
        said.append(str(refused.value).replace(host, "HOST"))

    assert said[0] == said[1]


@pytest.mark.one_database
@pytest.mark.parametrize(
    "act",
    [
        lambda: socket.create_connection(("127.0.0.1", 9), timeout=1),
        lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
        lambda: socket.socket(socket.AF_UNIX).connect("/tmp/nowhere.sock"),  # noqa: S108
        lambda: open("/etc/passwd"),  # noqa: PTH123, SIM115
        lambda: open("/tmp/written", "w"),  # noqa: PTH123, SIM115, S108
        lambda: __import__("subprocess").run(["/bin/true"], check=False),
        lambda: __import__("os").system("true"),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_code_that_is_not_ours_is_confined_while_it_runs(act: Callable[[], object]) -> None:
    with guard.confined(allowed=()) as refused, pytest.raises(AddressRefused):
        act()

    assert len(refused) == 1
    open("/etc/hostname").close()  # noqa: PTH123
