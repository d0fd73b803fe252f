"""A spec is compiled once into everything that a decision needs."""

from dataclasses import replace
from typing import Annotated

import pytest

from interlock.core.canonical import Json, decode
from interlock.core.errors import SchemaInvalid, SpecInvalid
from interlock.core.lifecycle import Lifecycle
from interlock.core.retirement import Retirement
from interlock.core.tool import Document, Parameter, ToolSpec, spec_digest
from interlock.core.tool_compile import compile_tool
from interlock.core.tool_parts import without
from interlock.declare import Arg, tool
from tests.unit.core.call_cases import SCHEMA
from tests.unit.core.call_cases import spec as draft_spec

GOING = Retirement(announced_us=0, retires_us=86_400_000_000, by="olga")


@tool(effect="write")
async def pay(
    amount: int, token: Annotated[str, Arg(sensitive=True)], tenant: Annotated[str, Arg(inject="tenant")]
) -> int:
    """Pay it."""
    return amount


def with_schema(schema: object) -> ToolSpec:
    spec = pay.spec()
    return replace(spec, input_schema=Document.of(schema))  # type: ignore[arg-type]


@pytest.mark.requirement("CALL-5", "TOOL-4")
def test_a_model_sees_the_schema_without_injected_parameters() -> None:
    compiled = compile_tool(pay.spec())
    shown = decode(compiled.model_schema)
    assert isinstance(shown, dict)
    assert isinstance(shown["properties"], dict)
    assert set(shown["properties"]) == {"amount", "token"}
    assert shown["required"] == ["amount", "token"]
    assert [each.name for each in compiled.injected] == ["tenant"]
    assert compiled.input.is_valid({"amount": 1, "token": "x", "tenant": "acme"})
    assert not compiled.input.is_valid({"amount": 1, "token": "x"})


def test_digest_places_and_state_are_those_of_the_spec() -> None:
    spec = pay.spec()
    compiled = compile_tool(spec, state=Lifecycle.FROZEN, retirement=GOING)
    said = compile_tool(replace(spec, parameters=(*spec.parameters, Parameter("amount", sensitive=True))))
    assert said.sensitive == {"/token", "/amount"}
    assert compiled.digest == spec_digest(spec)
    assert compiled.sensitive == {"/token"}
    assert compiled.output is not None
    assert compiled.output.is_valid(1)
    assert (compiled.state, compiled.retirement, compiled.notice) == (Lifecycle.FROZEN, GOING, "")
    announced = compile_tool(spec, state=Lifecycle.RESTRICTED, retirement=GOING)
    assert announced.notice == "pay is to be retired on 1970-01-02."


@pytest.mark.parametrize("schema", [True, {"type": "string"}, {}, []])
def test_an_input_schema_that_is_no_object_schema_is_refused(schema: object) -> None:
    with pytest.raises(SpecInvalid, match="object"):
        compile_tool(with_schema(schema))


def test_a_malformed_schema_is_refused() -> None:
    with pytest.raises(SchemaInvalid):
        compile_tool(with_schema({"type": "object", "properties": {"a": {"type": "strin"}}}))


def test_sensitive_places_are_those_that_schema_or_parameter_mark() -> None:
    texts: dict[str, Json] = {"a": {"type": "string", "writeOnly": True}, "b": {"type": "string"}, "c": {}}
    parameters = (Parameter("b", sensitive=True),)
    schema = Document.of({"type": "object", "properties": texts})
    assert compile_tool(draft_spec(input_schema=schema, parameters=parameters, resource=None)).sensitive == {"/a", "/b"}


@pytest.mark.requirement("TOOL-4")
def test_a_schema_without_injected_parameters_is_shown_as_it_is() -> None:
    assert decode(compile_tool(draft_spec()).model_schema) == SCHEMA
    assert without({"type": "object"}, names=frozenset({"x"})) == {"type": "object"}


def test_an_output_schema_that_is_none_makes_no_tool() -> None:
    with pytest.raises(SpecInvalid, match="output schema"):
        compile_tool(draft_spec(output_schema=Document.of("string")))
    assert compile_tool(draft_spec(output_schema=Document.of(True))).output is not None
