"""Which addresses a channel may reach: public ones, and those that the installation allows."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Only this part of IPv6 is given out to be reached by everybody.
UNICAST = IPv6Network("2000::/3")
# Python calls some of these global: they lead to one's own network, or to nobody.
NEVER: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), says)
    for network, says in (
        ("192.0.0.0/24", "set aside for protocols"),
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("192.88.99.0/24", "a relay of 6to4"),
        ("100.64.0.0/10", "a provider's inner network"),
        ("224.0.0.0/4", "a multicast group"),
        ("240.0.0.0/4", "reserved"),
        ("2001::/23", "a tunnel (Teredo) or set aside"),
        ("2001:db8::/32", "for documents"),
        ("2002::/16", "a tunnel (6to4)"),
        ("3fff::/20", "for documents"),
        ("64:ff9b::/96", "a translation of IPv4 (NAT64)"),
        ("64:ff9b:1::/48", "a translation of IPv4 (NAT64)"),
    )
)
# What an interface made of an IPv4 address by ISATAP carries in its third quarter.
ISATAP = (0x00005EFE, 0x02005EFE)


class AddressRefused(PermissionError):
    """A channel may not reach this address; the installation's setting may allow its network."""


def networks_of(texts: Sequence[str]) -> tuple[Network, ...]:
    """Networks as a setting names them; a single address is one. Raises ValueError."""
    return tuple(ip_network(text.strip()) for text in texts)


def why_refused(text: str, *, allowed: Sequence[Network] = ()) -> str:
    """Why nothing may be sent there; empty where it may."""
    try:
        address = _plain(text)
    except ValueError:
        return "no address"
    if any(address in network for network in allowed if network.version == address.version):
        return ""
    for network, says in NEVER:
        if network.version == address.version and address in network:
            return says
    return _not_public(address)


def _plain(text: str) -> Address:
    """An IPv4 address in the clothes of IPv6 is the IPv4 address; one with a scope is local."""
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def _not_public(address: Address) -> str:
    if address.is_loopback or address.is_unspecified:
        return "this machine itself"
    if address.is_link_local:
        return "this machine's own link, metadata services included"
    if address.is_multicast:
        return "a multicast group"
    if isinstance(address, IPv6Address):
        if address not in UNICAST:
            return "not public"
        if (int(address) >> 32) & 0xFFFFFFFF in ISATAP:
            return "a tunnel (ISATAP)"
    return "" if address.is_global else "not public"
