"""A handler is held against the schemas that its tool declares, with a value that shows each disagreement."""

from typing import Any

import pytest

from interlock import HttpParameter, http_tool, tool
from interlock.core.compatibility import Verdict
from interlock.declare.agreement import disagreements

NUMBERS = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
ANY = {"type": "object", "properties": {"n": {}}, "required": ["n"], "additionalProperties": False}


def of(schema: Any = None, output: Any = None) -> Any:
    options = {} if schema is None else {"input_schema": schema}
    options |= {} if output is None else {"output_schema": output}

    @tool(effect="read", owner="eng", **options)
    async def count(n: int) -> int:
        """Count."""
        return n

    return count


def test_what_was_read_from_the_annotations_agrees_with_them() -> None:
    assert disagreements(of()) == ()
    assert disagreements(of(NUMBERS, {"type": "integer"})) == ()
    narrower = {**NUMBERS, "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 3}}}
    assert disagreements(of(narrower, {"type": "number"})) == ()


@pytest.mark.requirement("TOOL-5")
def test_a_schema_that_lets_through_what_a_function_does_not_take_is_shown_by_a_value() -> None:
    [found, *_] = disagreements(of({**NUMBERS, "properties": {"n": {"type": "string"}}}))
    assert (found.part, found.verdict) == ("input", Verdict.BREAKING)
    assert found.witness is not None
    assert isinstance(found.witness.value["n"], str)  # type: ignore[index,call-overload]
    assert any(each.verdict is Verdict.BREAKING for each in disagreements(of(ANY)))


@pytest.mark.requirement("TOOL-5")
def test_a_function_that_may_give_what_its_output_schema_does_not_allow_is_shown() -> None:
    [found, *_] = disagreements(of(output={"type": "string"}))
    assert (found.part, found.verdict) == ("output", Verdict.BREAKING)


@pytest.mark.requirement("TOOL-5")
def test_the_parameters_of_a_request_are_held_against_an_explicit_schema() -> None:
    def order(schema: Any) -> Any:
        return http_tool(
            name="read_order",
            description="Read an order.",
            effect="read",
            method="GET",
            url="https://api.example.com/orders/{n}",
            parameters=[HttpParameter("n", "path", schema={"type": "integer"})],
            input_schema=schema,
        )

    assert disagreements(order(NUMBERS)) == ()
    [found, *_] = disagreements(order({**NUMBERS, "properties": {"n": {"type": ["integer", "string"]}}}))
    assert (found.part, found.verdict) == ("input", Verdict.BREAKING)


@pytest.mark.requirement("TOOL-5")
def test_the_fields_of_a_message_are_held_against_an_explicit_schema() -> None:
    grpc = pytest.importorskip("tests.grpc_upstream", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")
    from interlock import grpc_tool

    def find(schema: Any) -> Any:
        return grpc_tool(
            name="find",
            description="Find a thing.",
            effect="read",
            target="dns:///things.example.com:443",
            method=grpc.FIND,
            descriptor=grpc.DESCRIPTOR,
            input_schema=schema,
        )

    plain = grpc_tool(
        name="find",
        description="Find a thing.",
        effect="read",
        target="dns:///things.example.com:443",
        method=grpc.FIND,
        descriptor=grpc.DESCRIPTOR,
    )
    own = plain.spec().input_schema.value
    assert isinstance(own, dict)
    assert disagreements(plain) == ()
    name = next(iter(own["properties"]))  # type: ignore[call-overload,arg-type]
    wrong = {"type": "object", "properties": {name: {"type": ["array", "boolean"]}}, "additionalProperties": False}
    assert any(each.verdict is Verdict.BREAKING for each in disagreements(find(wrong)))


def test_a_tool_that_says_nothing_of_its_handler_is_not_judged() -> None:
    class Other:
        code = None

        def spec(self, **_: str) -> Any:
            return of().spec()

    assert disagreements(Other()) == ()
