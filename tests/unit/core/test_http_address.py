"""Only public addresses are reached, in whatever spelling, unless the settings name the host or the range."""

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.core.http_address import NOTHING_PRIVATE, is_allowed, read_allowed

METADATA = ["169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fe80::1", "fe80::1%eth0"]
PRIVATE = ["127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fd12::1"]
SPECIAL = [
    "0.0.0.0", "224.0.0.1", "239.255.255.250", "255.255.255.255", "192.0.2.1", "198.18.0.1", "::", "ff02::1", "fec0::1",
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::a00:1", "2002:7f00:1::1",
    "2001:0:7f00:1::1", "2001:db8::1", "5f00::1",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:4700::1111"]


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("address", [*METADATA, *PRIVATE, *SPECIAL, "nonsense", "8.8.8.8.8", "0x7f.1", ""])
def test_an_address_that_is_not_public_is_never_reached(address: str) -> None:
    assert not is_allowed("example.com", [address], NOTHING_PRIVATE)
    assert not is_allowed("example.com", ["8.8.8.8", address], NOTHING_PRIVATE)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_reached(address: str) -> None:
    assert is_allowed("example.com", [address], NOTHING_PRIVATE)


@pytest.mark.requirement("EXEC-6")
def test_a_host_without_an_address_is_not_reached() -> None:
    assert not is_allowed("example.com", [], read_allowed(["example.com"]))


@pytest.mark.requirement("EXEC-6")
def test_a_named_host_may_be_private_but_is_never_where_credentials_of_machines_are() -> None:
    allowed = read_allowed(["Billing.Internal."])
    assert all(is_allowed("billing.internal", [each], allowed) for each in PRIVATE)
    assert not any(is_allowed("billing.internal", [each], allowed) for each in [*METADATA, *SPECIAL])
    assert not is_allowed("other.internal", ["10.1.2.3"], allowed)


@pytest.mark.requirement("EXEC-6")
def test_a_named_range_lets_through_what_it_holds_and_nothing_else() -> None:
    allowed = read_allowed(["10.1.0.0/16", "169.254.169.254", "64:ff9b::/96", "[::1]"])
    for each in ("10.1.2.3", "169.254.169.254", "64:ff9b::808:808", "::1"):
        assert is_allowed("x", [each], allowed)
    assert not is_allowed("x", ["10.2.0.1"], allowed)
    assert not is_allowed("x", ["10.1.2.3", "10.2.0.1"], allowed)


@pytest.mark.parametrize("entry", ["", " ", "10.0.0.0/33", "host:80", "10.0.0.1/8", "http://x/"])
def test_what_is_neither_host_nor_range_is_refused(entry: str) -> None:
    with pytest.raises(SettingsInvalid, match="egress_allow"):
        read_allowed([entry])
