"""A schema is compiled for a dialect: references, schemas that must all hold, alternatives, roots."""

from typing import Any

import pytest

from interlock.models.dialects import Dialect, Projection, Unfit, project
from interlock.models.dialects_compile import NODES_MAX
from tests.unit.models.messy_schemas import of_one

STRICT = Dialect.OPENAI_CHAT_STRICT


def projected(schema: dict[str, Any], dialect: Dialect) -> Projection:
    found = project(schema, dialect=dialect)
    assert isinstance(found, Projection), found
    return found


def member(schema: Any, dialect: Dialect, **root: Any) -> Any:
    properties: Any = projected(of_one(a=schema) | {"required": ["a"]} | root, dialect).schema["properties"]
    return properties["a"]


def test_schemas_that_must_all_hold_become_one() -> None:
    schema = {"allOf": [{"type": "integer", "minimum": 1}, {"$ref": "#/$defs/small"}]}
    definitions = {"small": {"maximum": 9, "minimum": 0}}
    assert member(schema, STRICT, **{"$defs": definitions}) == {"type": "integer", "minimum": 1, "maximum": 9}


def test_what_stands_beside_alternatives_is_said_in_each() -> None:
    schema = {"type": "string", "description": "A.", "anyOf": [{"enum": ["x"]}, {"pattern": "^y"}]}
    assert member(schema, STRICT) == {
        "anyOf": [{"type": "string", "enum": ["x"]}, {"type": "string", "pattern": "^y"}],
        "description": "A.",
    }


def test_words_beside_a_reference_are_kept_where_references_stand_alone() -> None:
    schema = {"$ref": "#/$defs/n", "description": "A."}
    definitions = {"n": {"type": "string"}}
    kept = {"anyOf": [{"$ref": "#/$defs/n"}], "description": "A."}
    assert member(schema, STRICT, **{"$defs": definitions}) == kept
    written_out = {"type": "STRING", "description": "A."}
    assert member(schema, Dialect.GEMINI_OPENAPI, **{"$defs": definitions}) == written_out


def test_demands_beside_a_reference_are_written_out_together() -> None:
    schema = {"$ref": "#/$defs/n", "maximum": 3}
    definitions = {"n": {"type": "integer", "maximum": 5}}
    assert member(schema, STRICT, **{"$defs": definitions}) == {"type": "integer", "maximum": 3}


def test_a_reference_out_of_the_schema_is_anything_and_reported() -> None:
    found = projected(of_one(a={"$ref": "https://a.example/x"}), Dialect.GEMINI)
    assert found.schema["properties"] == {"a": {}}
    assert [loss.pointer for loss in found.losses] == ["/properties/a/$ref"]


def test_alternatives_at_a_root_become_what_they_have_in_common() -> None:
    one = of_one(kind={"const": "x"}, a={"type": "string"}) | {"required": ["kind", "a"]}
    two = of_one(kind={"const": "y"}, b={"type": "integer"}) | {"required": ["kind"]}
    found = projected({"oneOf": [one, two]}, Dialect.OPENAI_CHAT)
    assert found.schema["properties"] == {
        "kind": {"anyOf": [{"const": "x"}, {"const": "y"}]},
        "a": {"type": "string"},
        "b": {"type": "integer"},
    }
    assert found.schema["required"] == ["kind"]
    assert {(loss.pointer, loss.narrows) for loss in found.losses} == {("/oneOf", False), ("/oneOf", True)}


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"type": ["array", "null"]}, of_one(a=False) | {"required": ["a"]}]
)
def test_a_schema_that_takes_no_arguments_is_set_aside(dialect: Dialect, schema: dict[str, Any]) -> None:
    if schema["type"] == "object" and dialect in {Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC}:
        assert isinstance(project(schema, dialect=dialect), Projection)
    elif dialect is not Dialect.BEDROCK or schema["type"] != "object":
        assert isinstance(project(schema, dialect=dialect), Unfit)


def test_a_schema_of_more_parts_than_anybody_needs_is_set_aside_with_a_reason() -> None:
    many = {"anyOf": [{"type": "string", "maxLength": number} for number in range(NODES_MAX + 1)]}
    found = project(of_one(a=many), dialect=Dialect.OPENAI_CHAT)
    assert isinstance(found, Unfit)
    assert "5000 parts" in found.reason


def test_the_root_of_a_provider_that_takes_little_there_holds_nothing_else() -> None:
    found = projected(of_one(a={"type": "string"}) | {"additionalProperties": False}, Dialect.BEDROCK)
    assert found.schema.keys() == {"type", "properties"}
    assert [loss.pointer for loss in found.losses] == ["/additionalProperties"]
