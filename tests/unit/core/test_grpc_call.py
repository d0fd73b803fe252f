"""A target is literal, and everything that a declared call says is in its fingerprint."""

from dataclasses import replace

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.grpc_call import STATUSES, GrpcCall, GrpcCode, LookUpCall, read_target
from interlock.core.http_template import Origin, Template
from interlock.core.tool import ErrorContract

EXAMPLE = Origin("https", "api.example.com", 443)
CALL = GrpcCall(Template("POST", EXAMPLE, "/a.B/C"), "a.In", "a.Out")
CODE = GrpcCode(CALL, "AAAA")


@pytest.mark.parametrize("target", ["dns:///API.example.com", "dns:api.example.com:443", "api.example.com:443"])
def test_a_target_is_a_host_with_the_port_of_https_where_it_names_none(target: str) -> None:
    assert read_target(target, scheme="https") == EXAMPLE


def test_a_target_may_be_an_address_of_ipv6() -> None:
    assert read_target("dns:///[::1]:50051", scheme="http") == Origin("http", "[::1]", 50051)


@pytest.mark.parametrize(
    "target",
    [
        "unix:///run/x.sock", "unix:x", "xds:///a.b:1", "ipv4:1.2.3.4:5", "dns://8.8.8.8/a.b:1", "https://a.b", "dns:///",
        "", "a.b:1/x", "u@a.b:1", "{host}:443", "a.b:x", "a.b:1?x", "dns:///a.b:1,c.d:2", "a.b:",
    ],
)  # fmt: skip
def test_a_target_that_leads_elsewhere_is_refused(target: str) -> None:
    with pytest.raises(SpecInvalid):
        read_target(target, scheme="https")


def test_everything_that_is_declared_is_in_the_fingerprint() -> None:
    found = LookUpCall(CALL, (("id", "thingId"),), ("NOT_FOUND",))
    others = [
        replace(CODE, call=replace(CALL, streams=True)),
        replace(CODE, call=replace(CALL, takes="a.Other")),
        replace(CODE, descriptors="BBBB"),
        replace(CODE, statuses=(("ABORTED", ErrorContract("LOCKED")),)),
        replace(CODE, look_up=found),
        replace(CODE, look_up=replace(found, not_happened=())),
        replace(CODE, key_metadata="x-key"),
        replace(CODE, message_bytes_max=1),
    ]
    assert len({each.fingerprint for each in [CODE, *others]}) == len(others) + 1
    assert replace(CODE).fingerprint == CODE.fingerprint


def test_a_call_says_where_it_goes_and_what_a_status_means() -> None:
    known = replace(CODE, statuses=(("ABORTED", ErrorContract("LOCKED")),))
    assert CALL.target == "CALL https://api.example.com/a.B/C"
    assert (known.status("ABORTED"), known.status("INTERNAL")) == (ErrorContract("LOCKED"), None)


def test_the_statuses_stand_by_their_numbers() -> None:
    assert (len(STATUSES), STATUSES[0], STATUSES[5], STATUSES[14], STATUSES[16]) == (
        17, "OK", "NOT_FOUND", "UNAVAILABLE", "UNAUTHENTICATED",
    )  # fmt: skip
