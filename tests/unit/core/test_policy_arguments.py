"""Which JSON Schemas have a Cedar type, and which."""

import pytest

from interlock.core.canonical import Json
from interlock.core.policy_arguments import arguments_type
from interlock.core.policy_values import BOOLEAN, DECIMAL, LONG, STRING, CedarType, Field, Record, SetOf
from interlock.core.tool import Document

DEFINITIONS: dict[str, Json] = {"Name": {"type": "string"}, "Loop": {"$ref": "#/$defs/Loop"}}


def types(properties: Json, *, required: Json = None) -> Record:
    schema: dict[str, Json] = {"type": "object", "properties": properties, "required": required, "$defs": DEFINITIONS}
    return arguments_type(Document.of(schema))


@pytest.mark.requirement("POL-1")
@pytest.mark.parametrize(
    ("schema", "type_"),
    [
        ({"type": "string"}, STRING),
        ({"type": "integer"}, LONG),
        ({"type": "number"}, DECIMAL),
        ({"type": "boolean"}, BOOLEAN),
        ({"type": "array", "items": {"type": "integer"}}, SetOf(LONG)),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, Record((Field("a", STRING, required=False),))),
        ({"enum": ["a", "b"]}, STRING),
        ({"const": 3}, LONG),
        ({"enum": [True]}, BOOLEAN),
        ({"$ref": "#/$defs/Name"}, STRING),
        ({"allOf": [{"$ref": "#/$defs/Name"}]}, STRING),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, LONG),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, Record()),
    ],
)
def test_a_schema_that_cedar_can_type_has_its_type(schema: Json, type_: CedarType) -> None:
    found = types({"x": schema}).field("x")
    assert found is not None
    assert found.type == type_


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "integer"]},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"enum": ["a", 1]},
        {"type": "array"},
        {"type": "array", "items": {}},
        {},
        True,
        {"type": "null"},
        {"$ref": "#/$defs/Missing"},
        {"$ref": "https://example.com/x"},
        {"$ref": "#/$defs/Loop"},
    ],
)
def test_a_schema_that_cedar_cannot_type_is_left_out(schema: Json) -> None:
    assert types({"x": schema, "y": {"type": "string"}}) == Record((Field("y", STRING, required=False),))


def test_recursion_ends() -> None:
    tree: dict[str, Json] = {"type": "object", "properties": {"next": {"$ref": "#"}, "name": {"type": "string"}}}
    assert arguments_type(Document.of(tree)).field("next") is not None


def test_what_may_be_absent_or_null_is_optional() -> None:
    found = types(
        {
            "a": {"type": "string"},
            "b": {"type": ["string", "null"]},
            "c": {"enum": ["x", None]},
            "d": {"type": "string"},
        },
        required=["a", "b", "c"],
    )
    assert {each.name: each.required for each in found.fields} == {"a": True, "b": False, "c": False, "d": False}


def test_names_that_cedars_json_reads_as_escapes_are_left_out() -> None:
    assert types({"__entity": {"type": "string"}, "__extn": {"type": "string"}}) == Record()
