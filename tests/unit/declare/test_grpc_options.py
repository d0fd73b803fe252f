"""An option of a gRPC tool that is misspelled, misses or does not fit is refused by name."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from interlock.core.errors import SpecInvalid
from interlock.declare.grpc_options import split
from tests.grpc_upstream import DESCRIPTOR

OPTIONS: dict[str, Any] = {
    "name": "act",
    "description": "Act.",
    "target": "a.b:1",
    "method": "/a.B/C",
    "descriptor": DESCRIPTOR,
    "effect": "read",
}


def test_what_is_said_of_the_call_is_told_from_what_is_said_of_the_tool(tmp_path: Path) -> None:
    file = tmp_path / "things.pb"
    file.write_bytes(DESCRIPTOR)
    for given in (DESCRIPTOR, file, str(file)):
        grpc, rest = split({**OPTIONS, "descriptor": given, "timeout_ms": 5})  # type: ignore[typeddict-item]
        assert set(grpc) == {"target", "method", "descriptor"}
        assert grpc["descriptor"] == DESCRIPTOR
        assert rest == {"name": "act", "description": "Act.", "effect": "read", "timeout_ms": 5}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"targte": "x"}, "is it 'target'"),
        ({"resolve": print}, "there is no 'resolve'"),
        ({"secrets": ["x"]}, "there is no 'secrets'"),
        ({"target": ""}, "say its target"),
        ({"method": 1}, "method: it must be text"),
        ({"plaintext": "yes"}, "plaintext: it must be true or false"),
        ({"errors": {"NOT_FOUND": {"kode": "x"}}}, "there is no 'kode'"),
        ({"reflection": True}, "and not both"),
        ({"descriptor": 7}, "descriptor is a FileDescriptorSet"),
        ({"descriptor": "/nowhere/things.pb"}, "cannot be read: No such file"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecInvalid, match=sentence):
        split({**OPTIONS, **change})  # type: ignore[typeddict-item]


def test_a_tool_without_descriptor_says_that_the_server_is_asked() -> None:
    given = {name: value for name, value in OPTIONS.items() if name != "descriptor"}
    with pytest.raises(SpecInvalid, match="reflection=True"):
        split(given)  # type: ignore[arg-type]
    grpc, _ = split({**given, "reflection": True})  # type: ignore[typeddict-item]
    assert grpc["reflection"] is True
