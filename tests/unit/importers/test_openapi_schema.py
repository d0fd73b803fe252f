"""Schemas of every version become JSON Schema 2020-12 that means the same, for the way that values go."""

from typing import Any

import pytest

from interlock.core.schema import compile_schema
from interlock.importers.openapi_document import Unfit
from interlock.importers.openapi_schema import Schemas, Way
from tests.openapi_documents import document, of_schema, read, tool, unmade

pytestmark = pytest.mark.requirement("REG-9")

POINTER = "/components/schemas/X"


def converted(schema: Any, *, version: str = "3.0.3", way: Way = Way.SENT) -> Any:
    return Schemas(document(version=version, components={"schemas": {"Y": {}}}), way).read(schema, POINTER)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"nullable": True}, {}),
        ({"nullable": True, "allOf": [{"$ref": "#/components/schemas/Y"}]},
         {"anyOf": [{"allOf": [{"$ref": "#/$defs/Y"}]}, {"type": "null"}]}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"type": "string", "example": "x"}, {"type": "string", "examples": ["x"]}),
        ({"type": "string", "xml": {}, "discriminator": {}, "externalDocs": {}, "x-y": 1}, {"type": "string"}),
        ({"$ref": "#/components/schemas/Y", "description": "ignored in 3.0"}, {"$ref": "#/$defs/Y"}),
        ({"enum": ["a", "a", 1, True]}, {"enum": ["a", 1, True]}),
        ({"type": "string", "pattern": "(?<=a)b"}, {"type": "string"}),
        ({"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^a+$"}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
    ],
)  # fmt: skip
def test_3_0_is_converted(given: Any, wanted: Any) -> None:
    assert converted(given) == wanted
    compile_schema({**wanted, "$defs": {"Y": {}}})


def test_3_1_keeps_what_stands_beside_a_reference_and_numbers_as_bounds() -> None:
    given = {"$ref": "#/components/schemas/Y", "exclusiveMinimum": 3, "examples": [4], "type": ["integer", "null"]}
    wanted = {"$ref": "#/$defs/Y", "exclusiveMinimum": 3, "examples": [4], "type": ["integer", "null"]}
    assert converted(given, version="3.1.0") == wanted


def test_a_default_is_told_and_not_filled_in() -> None:
    given = {"type": "object", "properties": {"archived": {"type": "boolean", "default": False}}}
    sent = converted(given)["properties"]["archived"]
    assert sent == {"type": "boolean", "description": "Where it is left out the server takes false."}
    assert converted(given, way=Way.BACK)["properties"]["archived"] == {"type": "boolean"}


def test_what_is_read_only_is_not_sent_and_what_is_write_only_does_not_come_back() -> None:
    given = {
        "type": "object",
        "required": ["id", "password"],
        "properties": {
            "id": {"readOnly": True},
            "password": {"writeOnly": True},
            "by": {"$ref": "#/components/schemas/R"},
        },
    }
    components = {"schemas": {"R": {"type": "string", "readOnly": True}}}
    found = document(version="3.0.3", components=components)
    sent, back = (Schemas(found, way).read(given, POINTER) for way in (Way.SENT, Way.BACK))
    assert (sent["properties"].keys(), sent["required"]) == ({"password"}, ["password"])  # type: ignore[index,call-overload,union-attr]
    assert (back["properties"].keys(), back["required"]) == ({"id", "by"}, ["id"])  # type: ignore[index,call-overload,union-attr]


def test_recursion_stays_recursion_and_nothing_is_written_out_twice() -> None:
    node = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}},
    }
    both = {"allOf": [{"$ref": f"#/components/schemas/N{0}"}] * 2}
    chain = {f"N{at}": {"allOf": [{"$ref": f"#/components/schemas/N{at + 1}"}] * 2} for at in range(6)}
    found = of_schema({"$ref": "#/components/schemas/Node"}, Node=node)
    spec = tool(found).spec()
    schema: Any = spec.input_schema.value
    assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    compile_schema(schema)
    many: Any = tool(of_schema(both, **chain, N6={"type": "string"})).spec().input_schema.value
    assert len(many["$defs"]) == 7


def test_a_schema_that_would_take_too_much_work_is_listed() -> None:
    chain = {f"N{at}": {"allOf": [{"$ref": f"#/components/schemas/N{at + 1}"}] * 2} for at in range(40)}
    assert "evaluations" in unmade(of_schema({"$ref": "#/components/schemas/N0"}, **chain, N40={})).reason


@pytest.mark.parametrize(
    "schema",
    [
        {"$dynamicRef": "#x"},
        {"$id": "https://example.com/other"},
        {"type": "strnig"},
        {"properties": {"a\u200bb": {}}},
        {"enum": ["yes\u2060"]},
        {"required": True},
        [],
    ],
)
def test_a_schema_that_cannot_be_meant_is_listed(schema: Any) -> None:
    assert unmade(of_schema(schema)).key == "POST /x"


def test_two_definitions_of_one_name_stay_two() -> None:
    odd = {"$ref": "#/components/responses/R/content/application~1json/schema"}
    found = document(components={"responses": {"R": {"content": {"application/json": {"schema": {"type": "string"}}}}}})
    schemas = Schemas(found, Way.SENT)
    read_as: Any = schemas.read(odd, POINTER)
    assert read_as["$ref"].startswith("#/$defs/schema_")
    assert [*schemas.definitions(read_as).values()] == [{"type": "string"}]


def test_the_size_of_all_that_a_schema_refers_to_is_bounded() -> None:
    found = document(
        components={
            "schemas": {"A": {"description": "a" * 400, "allOf": [{"$ref": "#/components/schemas/B"}]}, "B": {}}
        }
    )
    schemas = Schemas(found, Way.SENT)
    schema = schemas.read({"$ref": "#/components/schemas/A"}, POINTER)
    assert schemas.definitions(schema).keys() == {"A", "B"}
    with pytest.raises(Unfit, match="larger than 400 bytes"):
        schemas.definitions(schema, bytes_max=400)


def test_depth_is_bounded() -> None:
    schema: Any = {}
    for _ in range(100):
        schema = {"items": schema}
    with pytest.raises(Unfit, match="deeper"):
        converted(schema)


def test_words_of_properties_are_cleaned() -> None:
    found = read(of_schema({"type": "object", "properties": {"a": {"description": "hi\u200b" + "x" * 900}}}))
    (body,) = found.parameters
    said = body.schema["properties"]["a"]["description"]
    assert said.startswith("hix")
    assert len(said) == 500
