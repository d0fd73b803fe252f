"""A gRPC tool is declared whole, or refused with a sentence."""

from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from interlock import Credential, ErrorContract, GrpcLookUp, GrpcTool, Parameter, ParameterSource, grpc_tool
from interlock.core.errors import SpecInvalid
from interlock.core.tool import Entrypoint
from tests.grpc_upstream import ACT, DESCRIPTOR, FIND, WATCH


def declared(**more: Any) -> GrpcTool:
    options = {
        "name": "act",
        "description": "Act on a thing.",
        "effect": "write",
        "target": "dns:///api.example.com",
        "method": ACT,
        "descriptor": DESCRIPTOR,
    }
    return grpc_tool(**{**options, **more})


@pytest.mark.requirement("TOOL-6")
def test_the_spec_says_what_the_message_takes_and_what_must_be_given() -> None:
    tool = declared(
        key=["thingId"],
        credentials=[Credential("token")],
        errors={"ALREADY_EXISTS": ErrorContract("TAKEN", nothing_happened=True), "ABORTED": ErrorContract("LOCKED")},
        reconcile=GrpcLookUp(FIND, {"id": "thingId", "reference": ""}, ("NOT_FOUND",)),
        required=["count"],
        parameters=[Parameter("count", unit="pieces")],
    )
    spec = tool.spec()
    schema: Any = spec.input_schema.value
    assert list(schema["properties"]) == ["count", "thingId"]
    assert schema["required"] == ["thingId", "count"]
    assert (spec.source, spec.secrets, spec.reconcile) == ("grpc", ("token",), True)
    assert [each.code for each in spec.errors] == ["TAKEN", "LOCKED"]
    assert spec.parameters == (Parameter("count", unit="pieces"),)
    assert spec.handler == Entrypoint("grpc", f"CALL https://api.example.com{ACT}", tool.code.fingerprint)
    look_up = tool.code.look_up
    assert look_up is not None
    assert look_up.call.request.credentials == (Credential("token"),)
    assert look_up.fields == (("id", "thingId"), ("reference", ""))


def test_the_resource_must_be_given_and_a_stream_is_known_as_one() -> None:
    schema: Any = declared(resource=("Thing", "{thingId}/x")).spec().input_schema.value
    assert schema["required"] == ["thingId"]
    assert declared(resource=("Thing", "thingId")).spec().input_schema.value == schema
    assert declared(method=WATCH, effect="read").code.call.streams
    assert not declared().code.call.streams


def test_an_own_schema_is_narrower_than_the_message() -> None:
    own = {"type": "object", "properties": {"thingId": {"enum": ["7"]}}, "additionalProperties": False}
    assert declared(input_schema=own).spec().input_schema.value == own
    injected = [Parameter("thingId", source=ParameterSource.CONTEXT, inject="tenant")]
    assert declared(parameters=injected).spec().parameters == tuple(injected)
    for wrong in ({**own, "properties": {"other": {}}}, {**own, "additionalProperties": True}, {"type": "object"}):
        with pytest.raises(SpecInvalid, match="input_schema"):
            declared(input_schema=wrong)


@pytest.mark.requirement("EXEC-8")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"target": "unix:///x"}, "act: .*unix"),
        ({"method": "/things.v1.Things/Nothing"}, "have no method"),
        ({"descriptor": b"\xff"}, "no FileDescriptorSet"),
        ({"effect": "reed"}, "effect is read"),
        ({"errors": {"404": ErrorContract("X")}}, "no status"),
        ({"errors": {"ABORTED": ErrorContract("X"), "INTERNAL": ErrorContract("X", True)}}, "two things"),
        ({"key": ["thing_id"]}, "no field thing_id"),
        ({"required": ["nothing"]}, "no field nothing"),
        ({"metadata": {"grpc-timeout": "1S"}}, "grpc-timeout is no metadata"),
        ({"metadata": {"x-bin": "1"}}, "x-bin is no metadata"),
        ({"metadata": {"te": "x"}}, "'te' is no header"),
        ({"metadata": {"a": "b\nc"}}, "cannot be sent"),
        ({"metadata": {"Idempotency-Key": "x"}}, "set once"),
        ({"key_metadata": "authorization"}, "no metadata"),
        ({"fence_metadata": "idempotency-key"}, "set once"),
        ({"credentials": [Credential("t", "query", "t")]}, "bearer, basic"),  # type: ignore[arg-type]
        ({"credentials": [Credential("t", "header", "x-bin")]}, "x-bin is no metadata"),  # type: ignore[arg-type]
        ({"connect_timeout_ms": 0}, "a wait must be"),
        ({"message_bytes_max": 1 << 40}, "message_bytes_max must be"),
        ({"reconcile": GrpcLookUp(FIND, {"nothing": "thingId"})}, "reconcile: 'nothing'"),
        ({"reconcile": GrpcLookUp(FIND, {"id": "nothing"})}, "'nothing' no argument"),
        ({"reconcile": GrpcLookUp(WATCH)}, "answered by one message"),
        ({"reconcile": GrpcLookUp(FIND, not_happened=("OK",))}, "no status"),
        ({"effect": "read", "reconcile": GrpcLookUp(FIND)}, "nothing to compensate or reconcile"),
    ],
)
def test_what_no_server_could_mean_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecInvalid, match=sentence):
        declared(**change)


def test_a_credential_may_be_of_any_kind_that_metadata_holds() -> None:
    given = [Credential("a"), Credential("b", "header", "x-api-key"), Credential("c", "basic", user="u")]  # type: ignore[arg-type]
    for each in given:
        assert declared(credentials=[each]).spec().secrets == each.secrets
