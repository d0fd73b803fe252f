"""From a spec to a tool: what a model is shown of it, and what makes it none."""

import pytest

from interlock.core.canonical import Json, decode
from interlock.core.errors import SpecInvalid
from interlock.core.tool import Document, Parameter, ParameterSource
from interlock.core.tool_compile import compile_tool, without
from tests.unit.core.call_cases import SCHEMA, spec

TENANT = Parameter("tenant_id", source=ParameterSource.CONTEXT, inject="tenant")


def _schema(**properties: Json) -> Document:
    return Document.of({"type": "object", "properties": properties, "required": [*properties]})


@pytest.mark.requirement("TOOL-4")
def test_a_model_is_shown_the_schema_without_injected_parameters() -> None:
    shown = compile_tool(
        spec(input_schema=_schema(tenant_id={"type": "string"}, draft_id={"type": "string"}), parameters=(TENANT,))
    )
    schema = decode(shown.model_schema)
    assert schema == {"type": "object", "properties": {"draft_id": {"type": "string"}}, "required": ["draft_id"]}
    assert shown.injected == (TENANT,)


@pytest.mark.requirement("TOOL-4")
def test_a_schema_without_injected_parameters_is_shown_as_it_is() -> None:
    assert decode(compile_tool(spec()).model_schema) == SCHEMA
    assert without({"type": "object"}, names=frozenset({"x"})) == {"type": "object"}


def test_sensitive_places_are_those_that_schema_or_parameter_mark() -> None:
    schema = _schema(a={"type": "string", "writeOnly": True}, b={"type": "string"}, c={"type": "string"})
    compiled = compile_tool(spec(input_schema=schema, parameters=(Parameter("b", sensitive=True),), resource=None))
    assert compiled.sensitive == {"/a", "/b"}


@pytest.mark.parametrize("schema", [True, {}, {"type": "string"}, []])
def test_an_input_schema_without_an_object_at_its_root_makes_no_tool(schema: Json) -> None:
    with pytest.raises(SpecInvalid, match="type: object"):
        compile_tool(spec(input_schema=Document.of(schema)))


def test_an_output_schema_that_is_none_makes_no_tool() -> None:
    with pytest.raises(SpecInvalid, match="output schema"):
        compile_tool(spec(output_schema=Document.of("string")))
    assert compile_tool(spec(output_schema=Document.of(True))).output is not None
