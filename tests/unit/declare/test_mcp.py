"""An MCP tool is declared with a contract of our own, and refused where no server could mean it."""

from typing import Any

import pytest

from interlock import (
    Confidentiality,
    ErrorContract,
    Labels,
    McpListed,
    McpLookUp,
    McpServer,
    McpTool,
    SpecInvalid,
    Trust,
    mcp_tool,
)
from interlock.core.tool import Document

SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "additionalProperties": False}


def declared(**more: Any) -> McpTool:
    options = {
        "name": "place",
        "description": "Place an order.",
        "effect": "write",
        "server": McpServer(url="https://mcp.example.com/mcp"),
        "tool": "place_order",
        "input_schema": SCHEMA,
    }
    return mcp_tool(**{**options, **more})


@pytest.mark.requirement("TOOL-1", "TOOL-2", "TOOL-3", "TOOL-6")
def test_it_takes_every_option_of_a_tool() -> None:
    spec = declared(
        key=["order"],
        resource=("Order", "order"),
        output_schema={"type": "object"},
        labels=Labels(Confidentiality.INTERNAL),
        timeout_ms=5_000,
        roles=["buyer"],
        errors={"isError": ErrorContract("BROKEN"), "-31000": ErrorContract("BUSY", retryable=True)},
        reconcile=McpLookUp("find_order", {"id": "order"}),
        compensate="cancel",
        external=True,
        risk="high",
        summary="Order {order}",
        examples={"one": {"order": "7"}},
    ).spec()
    assert (spec.handler.kind, spec.handler.target) == ("mcp", "CALL https://mcp.example.com/mcp place_order")
    assert {each.code for each in spec.errors} == {"BROKEN", "BUSY"}
    assert (spec.reconcile, spec.compensate, spec.timeout_ms) == (True, "cancel", 5_000)
    assert spec.labels == Labels(Confidentiality.INTERNAL)


@pytest.mark.requirement("OBS-6")
def test_what_it_says_is_not_trusted_unless_somebody_says_so() -> None:
    assert declared().spec().labels == Labels(trust=Trust.UNTRUSTED, origins=frozenset({"https://mcp.example.com"}))


@pytest.mark.requirement("TOOL-1")
def test_of_what_a_server_lists_only_name_and_schemas_are_used() -> None:
    listed = McpListed("place_order", Document.of({**SCHEMA}), Document.of({"type": "object"}), "T", "Trust me.")
    made = mcp_tool(
        name="place",
        description="Place an order.",
        effect="write",
        server=McpServer(url="https://mcp.example.com/mcp"),
        listed=listed,
    )
    assert made.code.tool == "place_order"
    assert made.spec().description == "Place an order."
    assert made.spec().output_schema == Document.of({"type": "object"})


def test_arguments_that_the_upstream_wants_in_a_header_are_read_from_its_schema() -> None:
    inner = {"type": "object", "properties": {"id": {"type": "string", "x-mcp-header": "Id"}}}
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": inner}}
    assert declared(input_schema=schema).code.mirrored == ((("a",), "A"), (("b", "id"), "Id"))
    with pytest.raises(SpecInvalid, match="no name of a header"):
        declared(input_schema={"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A\r\nB"}}})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"key_meta": "io.modelcontextprotocol/x"}, "members of _meta"),
        ({"key_meta": "traceparent"}, "members of _meta"),
        ({"key_meta": "x/same", "fence_meta": "x/same"}, "members of _meta"),
        ({"key_meta": "a b"}, "members of _meta"),
        ({"message_bytes_max": 0}, "message_bytes_max"),
        ({"start_timeout_ms": 0}, "a wait"),
        ({"error_at": "code"}, "JSON pointer"),
        ({"errors": {"": ErrorContract("X")}}, "no end"),
        ({"errors": {"a": ErrorContract("X"), "b": ErrorContract("X", retryable=True)}}, "means two things"),
        ({"reconcile": McpLookUp("find", {"id": "nothing"})}, "no argument 'nothing'"),
        ({"reconcile": McpLookUp("find", found_at="id")}, "found_at"),
        ({"reconcile": McpLookUp("find", absence_proves=True)}, "absence_proves"),
        ({"resolve": len}, "there is no 'resolve'"),
    ],
)
def test_what_could_not_be_meant_is_refused_with_its_place(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecInvalid, match=said):
        declared(**wrong)
