"""Tools are declared in every provider's dialect, what is lost is said, and the original stays the contract."""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from interlock.core.schema import CompiledSchema, SchemaInvalid, compile_schema
from interlock.models.dialects import Dialect, Loss, Projection, Unfit, declare, project
from interlock.models.dialects_parts import OPTIONAL_MARK
from tests.unit.models.messy_schemas import MESSY, ROOTS, VALUES, lowered, of_one

EVERY = pytest.mark.parametrize("dialect", Dialect)
STRICT = pytest.mark.parametrize("dialect", [Dialect.OPENAI_CHAT_STRICT, Dialect.OPENAI_RESPONSES_STRICT])
DISTINCT = [dialect for dialect in Dialect if "responses" not in dialect]
OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3)


def projected(schema: Mapping[str, Any], dialect: Dialect) -> Projection:
    found = project(schema, dialect=dialect)
    assert isinstance(found, Projection), found
    return found


def compiled(schema: Any) -> CompiledSchema:
    try:
        return compile_schema(schema)
    except SchemaInvalid:
        assume(condition=False)
        raise


@settings(max_examples=120)
@given(root=ROOTS, value=OBJECTS)
@pytest.mark.requirement("TOOL-7")
def test_the_original_accepts_what_comes_back_and_each_difference_is_reported(
    root: dict[str, Any], value: dict[str, Any]
) -> None:
    check_against_the_original(root, value)


@pytest.mark.slow
@settings(max_examples=1_000)
@given(root=ROOTS, value=OBJECTS)
@pytest.mark.requirement("TOOL-7")
def test_the_original_accepts_what_comes_back_over_many_schemas(root: dict[str, Any], value: dict[str, Any]) -> None:
    check_against_the_original(root, value)


def check_against_the_original(root: dict[str, Any], value: dict[str, Any]) -> None:
    original = compiled(root)
    accepted = original.is_valid(value)
    for dialect in DISTINCT:
        found = project(root, dialect=dialect)
        if isinstance(found, Unfit):
            assert not accepted, found.reason
            continue
        there = found.there(value)
        taken = compiled(lowered(found.schema)).is_valid(there)
        narrowed = any(loss.narrows for loss in found.losses)
        back = original.is_valid(found.back(there))
        if accepted and not (narrowed and "null" in json.dumps(value)):
            assert found.back(there) == value, (dialect, found.schema)
        assert taken or not accepted or narrowed, (dialect, found.schema)
        assert back or not taken or not all(loss.narrows for loss in found.losses), (dialect, found.schema)


@pytest.mark.parametrize("name", MESSY)
@pytest.mark.requirement("TOOL-7")
def test_every_messy_schema_is_declared_or_set_aside_with_a_reason(name: str) -> None:
    specs = [("messy", "", MESSY[name]), ("fine", "", of_one(query={"type": "string"}))]
    for dialect in Dialect:
        found = declare(specs, dialect=dialect)
        assert "fine" in found.projections
        assert ("messy" in found.projections) is not bool(found.set_aside.get("messy"))
        assert OPTIONAL_MARK not in json.dumps(found.tools)


@EVERY
def test_only_what_nobody_could_send_is_set_aside(dialect: Dialect) -> None:
    aside = {name for name, schema in MESSY.items() if isinstance(project(schema, dialect=dialect), Unfit)}
    assert aside <= {"allOf that contradicts"}


@EVERY
@pytest.mark.parametrize("schema", [True, False, None, [], "object", 5])
@pytest.mark.requirement("TOOL-7")
def test_what_is_no_object_is_set_aside_and_harms_no_other_tool(dialect: Dialect, schema: Any) -> None:
    found = declare([("odd", "", schema), ("fine", "", of_one(a={"type": "string"}))], dialect=dialect)
    assert dict(found.set_aside) == {"odd": "The input schema is no object."}
    assert list(found.projections) == ["fine"]


@pytest.mark.requirement("TOOL-7")
def test_each_of_many_losses_is_told_by_its_place() -> None:
    losses = projected(MESSY["patterns of 300"], Dialect.GEMINI).losses
    assert {loss.pointer for loss in losses} == {f"/properties/m{number}/pattern" for number in range(300)}


def test_alternatives_of_which_only_one_may_hold_are_not_said_so_where_they_became_alike() -> None:
    for name in ("oneOf of the same twice", "oneOf that overlaps"):
        found = projected(MESSY[name], Dialect.GEMINI)
        assert "oneOf" not in json.dumps(dict(found.schema))
        assert Loss("/properties/a/oneOf", "that only one alternative may hold is not said") in found.losses
    exact = projected(
        MESSY["oneOf of numbers"] | {"properties": {"a": {"oneOf": [{}, {"type": "null"}]}}}, Dialect.GEMINI
    )
    assert exact.schema["properties"] == {"a": {"oneOf": [{}, {"type": "null"}]}}


@EVERY
@pytest.mark.requirement("TOOL-7")
def test_a_server_of_two_hundred_tools_is_declared_up_to_the_limit(dialect: Dialect) -> None:
    specs = [(f"tool.{number}", "", of_one(a={"type": "string"}) | {"required": ["a"]}) for number in range(200)]
    found = declare(specs, dialect=dialect)
    assert len(found.tools) == len(found.projections) == 200 - len(found.set_aside)
    assert set(found.set_aside.values()) <= {"The provider takes at most 128 tools."}
    assert bool(found.set_aside) is ("anthropic" not in dialect and dialect is not Dialect.BEDROCK)
    strict = sum(projection.strict for projection in found.projections.values())
    assert strict == {"openai-chat-strict": 128, "openai-responses-strict": 128, "anthropic-strict": 20}.get(dialect, 0)


@STRICT
@pytest.mark.requirement("TOOL-7")
def test_null_stands_for_what_is_not_sent_and_is_taken_away_again(dialect: Dialect) -> None:
    item = of_one(note={"type": "string"}, id={"type": "integer"}) | {"required": ["id"]}
    schema = of_one(
        items={"type": "array", "items": item}, limit={"type": "integer"}, kept={"type": ["string", "null"]}
    )
    found = projected(schema, dialect)
    sent: Any = {"items": [{"note": None, "id": 1}, {"note": "x", "id": None}], "limit": None, "kept": None}
    assert found.strict
    assert found.back(sent) == {"items": [{"id": 1}, {"note": "x", "id": None}]}
    assert found.there({"items": [{"id": 1}]}) == {"items": [{"note": None, "id": 1}], "limit": None, "kept": None}
    assert [loss.pointer for loss in found.losses if "null" in loss.words] == ["/properties/kept"]


@STRICT
def test_every_object_of_a_strict_schema_is_closed_and_demands_all_its_members(dialect: Dialect) -> None:
    schema = of_one(a=of_one(b={"type": "string"}), c={"type": "array", "items": of_one(d={"type": "boolean"})})
    waiting: list[Any] = [dict(projected(schema, dialect).schema)]
    while waiting:
        node = waiting.pop()
        if "properties" in node:
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            waiting.extend(node["properties"].values())
        waiting.extend([node["items"]] if "items" in node else [])


@pytest.mark.parametrize(
    "schema",
    [
        of_one(a={}),
        of_one(a={"type": "object", "additionalProperties": {"type": "string"}}),
        of_one(a={"type": "object"}),
        of_one(a={"type": "string"}) | {"required": ["b"]},
        of_one(a={"type": "array"}),
        of_one(a={"enum": [[1], {"a": 1}]}),
        MESSY["deep"],
        MESSY["enum of 2000"],
    ],
)
@STRICT
def test_what_no_strict_schema_can_say_is_declared_without_and_that_is_reported(
    dialect: Dialect, schema: dict[str, Any]
) -> None:
    found = projected(schema, dialect)
    assert not found.strict
    assert found.losses[0].words.startswith("not strict: ")


def test_a_circle_is_no_strict_schema_for_a_provider_that_takes_none() -> None:
    assert projected(MESSY["circle"], Dialect.OPENAI_CHAT_STRICT).strict
    assert not projected(MESSY["circle"], Dialect.ANTHROPIC_STRICT).strict


def test_strictness_goes_to_the_first_tools_that_the_provider_has_room_for() -> None:
    many = of_one(**{f"a{number}": {"type": "string"} for number in range(20)})
    few = of_one(a={"type": "string"})
    found = declare([("one", "", many), ("two", "", many), ("three", "", few)], dialect=Dialect.ANTHROPIC_STRICT)
    assert [found.projections[name].strict for name in ("one", "two", "three")] == [True, False, True]
    assert found.projections["two"].losses[0].words.startswith("not strict: The request holds")


@EVERY
@pytest.mark.requirement("TOOL-7")
def test_null_beside_a_type_is_said_in_each_dialect(
    dialect: Dialect, trouble_case: Callable[[str], Mapping[str, Any]]
) -> None:
    schema = trouble_case("SCH-03")["input"]["schema"]
    found = projected(schema, dialect)
    if dialect is Dialect.GEMINI_OPENAPI:
        assert found.schema["properties"] == {
            "s": {"type": "STRING", "nullable": True},
            "a": {"type": "ARRAY", "items": {"type": "STRING"}, "nullable": True},
            "n": {"type": "STRING", "nullable": True},
        }
    assert compiled(lowered(found.schema)).is_valid({"s": None, "a": None, "n": None})
    assert not [loss for loss in found.losses if dialect in {Dialect.GEMINI, Dialect.GEMINI_OPENAPI}]


@EVERY
@pytest.mark.requirement("TOOL-7")
def test_no_root_has_alternatives_and_the_words_keep_a_hint(
    dialect: Dialect, trouble_case: Callable[[str], Mapping[str, Any]]
) -> None:
    schema = trouble_case("ADP-04")["input"]["schema"]
    found = projected(schema, dialect)
    assert found.schema.keys().isdisjoint({"anyOf", "oneOf", "allOf", "not", "enum"})
    assert set(found.schema["properties"]) == {"route", "file"}  # type: ignore[arg-type]
    assert found.losses[0] == Loss("/anyOf", "which members belong together is not enforced")
    assert dialect is Dialect.BEDROCK or "anyOf" in str(found.schema["description"])


@EVERY
@pytest.mark.requirement("TOOL-7")
def test_a_tree_is_kept_or_written_out_to_a_depth(
    dialect: Dialect, trouble_case: Callable[[str], Mapping[str, Any]]
) -> None:
    found = projected(trouble_case("SCH-01")["input"]["schema"], dialect)
    spelled = json.dumps(dict(found.schema))
    inlined = dialect in {Dialect.BEDROCK, Dialect.GEMINI_OPENAPI}
    assert ("$ref" in spelled) is not inlined
    assert ("The same again, nested." in spelled) is inlined


@EVERY
def test_hostile_schemas_cost_little(dialect: Dialect) -> None:
    doubling: dict[str, Any] = of_one(a={"$ref": "#/$defs/d40"}) | {
        "$defs": {
            f"d{n}": of_one(l={"$ref": f"#/$defs/d{n - 1}"}, r={"$ref": f"#/$defs/d{n - 1}"}) for n in range(1, 41)
        }
        | {"d0": {"type": "string"}}
    }
    nested: Any = {"type": "string"}
    for _ in range(30):
        nested = {"anyOf": [{"properties": {"a": nested}}, {"properties": {"b": nested}}], "type": "object"}
    began = time.perf_counter()
    hostile: list[dict[str, Any]] = [doubling, of_one(a=nested), {"allOf": [{"allOf": [{}] * 90}] * 90}]
    for schema in hostile:
        project(schema, dialect=dialect)
    assert time.perf_counter() - began < 10


def test_alternatives_within_alternatives_cost_little_on_the_way_back() -> None:
    node = of_one(a={"anyOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}]}, b={"type": "string"})
    schema = of_one(a={"$ref": "#/$defs/x"}) | {"$defs": {"x": node, "y": node | {"required": ["b"]}}}
    value: Any = 5
    for _ in range(40):
        value = {"a": value, "b": None}
    began = time.perf_counter()
    projected(schema, Dialect.OPENAI_CHAT_STRICT).back(value)
    assert time.perf_counter() - began < 5


def test_names_are_spelled_for_the_dialect_and_lead_back() -> None:
    specs: list[tuple[str, str, dict[str, Any]]] = [("mail.send", "Send.", {}), ("web_search", "", {})]
    found = declare(specs, dialect=Dialect.ANTHROPIC, reserved={"web_search"})
    assert [found.names.original(str(tool["name"])) for tool in found.tools] == ["mail.send", "web_search"]
    assert "web_search" not in found.names.from_wire
    with pytest.raises(ValueError, match="twice"):
        declare([specs[0], specs[0]], dialect=Dialect.ANTHROPIC)


@pytest.mark.parametrize(
    ("dialect", "tool"),
    [
        (
            Dialect.OPENAI_CHAT_STRICT,
            {"type": "function", "function": {"name": "t", "description": "d", "strict": True, "parameters": ...}},
        ),
        (
            Dialect.OPENAI_RESPONSES,
            {"type": "function", "name": "t", "description": "d", "strict": False, "parameters": ...},
        ),
        (Dialect.ANTHROPIC_STRICT, {"name": "t", "description": "d", "strict": True, "input_schema": ...}),
        (Dialect.ANTHROPIC, {"name": "t", "description": "d", "input_schema": ...}),
        (Dialect.GEMINI, {"name": "t", "description": "d", "parametersJsonSchema": ...}),
        (Dialect.GEMINI_OPENAPI, {"name": "t", "description": "d", "parameters": ...}),
        (Dialect.BEDROCK, {"toolSpec": {"name": "t", "description": "d", "inputSchema": {"json": ...}}}),
    ],
)
def test_a_tool_has_the_form_that_the_provider_knows(dialect: Dialect, tool: dict[str, Any]) -> None:
    (sent,) = declare([("t", "d", {})], dialect=dialect).tools
    assert without_schema(sent) == tool


def without_schema(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return ... if str(value.get("type")).lower() == "object" else {k: without_schema(v) for k, v in value.items()}
