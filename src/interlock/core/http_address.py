"""Says which addresses a request may go to: public ones, and what the settings name besides.

A name says nothing about where it leads, so every address that it has is judged, in every spelling that carries another
address within it (IPv4 mapped, compatible, NAT64, 6to4, Teredo).
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from interlock.core.errors import SettingsInvalid
from interlock.core.frozen import frozen

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(map(ip_network, text.split()))


_METADATA = _networks("169.254.0.0/16 100.100.100.200/32 168.63.129.16/32 fd00:ec2::254/128 fd20:ce::254/128 fe80::/10")
"""Where clouds keep the credentials of a machine, and the links that they are reached by."""

_PRIVATE = _networks("10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 127.0.0.0/8 100.64.0.0/10 ::1/128 fc00::/7")
"""Ranges of a network of one's own: a host that the settings name may be there."""

_SPECIAL = _networks("""
    0.0.0.0/8 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4
    240.0.0.0/4 ::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32
    2002::/16 3fff::/20 5f00::/16 fec0::/10 ff00::/8
""")
"""Multicast, documentation, tests, and addresses that carry another one."""


@frozen
class Allowed:
    """What the settings let through beside public addresses: host names, and ranges."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()


NOTHING_PRIVATE = Allowed()


def read_allowed(entries: Iterable[str]) -> Allowed:
    """Host names and ranges (`10.1.0.0/16`, `127.0.0.1`) as the settings list them. Raises `SettingsInvalid`."""
    hosts: set[str] = set()
    networks: list[Network] = []
    for entry in entries:
        try:
            networks.append(ip_network(entry.strip("[]")))
        except ValueError:
            if "/" in entry or ":" in entry or not entry.strip():
                raise SettingsInvalid(f"settings: egress_allow holds {entry!r}: give a host name or a range") from None
            hosts.add(entry.lower().rstrip("."))
    return Allowed(frozenset(hosts), tuple(networks))


def is_allowed(host: str, addresses: Iterable[str], allowed: Allowed) -> bool:
    """Whether a request to this host may be made: it has an address, and each one that it has may be reached."""
    found = tuple(addresses)
    is_named = host.lower().rstrip(".") in allowed.hosts
    return bool(found) and all(_may_reach(each, allowed, is_named=is_named) for each in found)


def _may_reach(text: str, allowed: Allowed, *, is_named: bool) -> bool:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if _within(address, allowed.networks):
        return True
    if _within(address, _METADATA):
        return False
    if _within(address, _PRIVATE):
        return is_named
    return address.is_global and not _within(address, _SPECIAL)


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == each.version and address in each for each in networks)
