"""A manifest declares gRPC tools as Python does."""

from pathlib import Path

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from interlock import Credential, ErrorContract, GrpcLookUp, grpc_tool
from interlock.core.errors import SpecInvalid
from interlock.importers.manifest import load_manifest
from tests.grpc_upstream import ACT, DESCRIPTOR, FIND

MANIFEST = """
name: act
description: Act on a thing.
effect: write
key: [thingId]
resource: {type: Thing, id: thingId}
target: dns:///things.example.com
method: /things.v1.Things/Act
descriptor: things.pb
credentials: [{secret: token}]
errors: {ALREADY_EXISTS: {code: TAKEN, nothing_happened: true}}
reconcile: {method: /things.v1.Things/Find, fields: {id: thingId}, not_happened: [NOT_FOUND]}
"""


@pytest.mark.requirement("TOOL-6")
def test_a_manifest_declares_a_grpc_tool_as_python_would(tmp_path: Path) -> None:
    (tmp_path / "things.pb").write_bytes(DESCRIPTOR)
    (found,) = load_manifest(MANIFEST, folder=tmp_path)
    same = grpc_tool(
        name="act",
        description="Act on a thing.",
        effect="write",
        key=["thingId"],
        resource=("Thing", "thingId"),
        target="dns:///things.example.com",
        method=ACT,
        descriptor=DESCRIPTOR,
        credentials=[Credential("token")],
        errors={"ALREADY_EXISTS": ErrorContract("TAKEN", nothing_happened=True)},
        reconcile=GrpcLookUp(FIND, {"id": "thingId"}, ("NOT_FOUND",)),
    )
    assert found.spec() == same.spec()
    assert found.code == same.code


@pytest.mark.parametrize(
    ("was", "is_", "sentence"),
    [
        ("things.pb", "other.pb", "tool: act: the descriptor .*other.pb cannot be read"),
        ("things.pb", "7", "tool.descriptor: it must be text"),
        ("ALREADY_EXISTS", "TAKEN", "no status that a call fails with"),
        ("type: Thing", "kind: Thing", "tool.resource"),
        ("method: /things.v1.Things/Act\n", "", "say its method"),
    ],
)
def test_what_is_wrong_in_one_is_named(was: str, is_: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "things.pb").write_bytes(DESCRIPTOR)
    with pytest.raises(SpecInvalid, match=sentence):
        load_manifest(MANIFEST.replace(was, is_), folder=tmp_path)
