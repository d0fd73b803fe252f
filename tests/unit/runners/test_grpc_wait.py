"""A server's wish to be left alone for a while is read, and nothing else is."""

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from interlock.runners.grpc_wait import DETAILS, PUSHBACK, wait_s
from tests.grpc_upstream import waiting


@pytest.mark.requirement("EXEC-2")
def test_a_wait_is_read_from_the_status_or_the_pushback() -> None:
    assert wait_s(waiting(7)) == 7.0
    assert wait_s(waiting(0)) == 0.0
    assert wait_s([(PUSHBACK, "1500")]) == 1.5
    assert wait_s([(PUSHBACK, "1500"), *waiting(7)]) == 7.0
    assert wait_s([(PUSHBACK, "9" * 15)]) == 86_400.0


@pytest.mark.parametrize(
    "metadata",
    [
        [],
        [(DETAILS, b"\xff\xff")],
        [(DETAILS, "text")],
        [(DETAILS, b"")],
        [(DETAILS, b"\x1a\x03\x0a\x01x")],
        [(PUSHBACK, "-1")],
        [(PUSHBACK, "soon")],
        [(PUSHBACK, "9" * 400)],
        [(PUSHBACK, b"\xff")],
        [("retry-after", "7")],
    ],
)
def test_what_cannot_be_read_asks_for_nothing(metadata: list[tuple[str, str | bytes]]) -> None:
    assert wait_s(metadata) is None
