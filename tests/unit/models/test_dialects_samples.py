"""What a model may send under a projection is taken by the original, or refused by it where a loss was reported."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from interlock.core.schema import CompiledSchema, SchemaInvalid, compile_schema
from interlock.models.dialects import Declarations, Dialect, Projection, declare
from tests.unit.models.messy_schemas import MESSY, lowered
from tests.unit.models.schema_samples import Samples

pytestmark = pytest.mark.requirement("TOOL-7")

SHARED = Path(__file__).resolve().parents[4] / "shared"
SAMPLES = 25
Schemas = Mapping[str, dict[str, Any]]


@pytest.mark.parametrize("dialect", Dialect)
def test_samples_of_messy_schemas_go_to_the_dialect_and_back(dialect: Dialect) -> None:
    assert wrong(MESSY, dialect) == []


@pytest.mark.parametrize("dialect", Dialect)
def test_samples_of_what_real_servers_list_go_to_the_dialect_and_back(dialect: Dialect) -> None:
    lists = tool_lists(shared("mcp-tool-lists"))
    assert [fault for schemas in lists.values() for fault in wrong(schemas, dialect)] == []


@pytest.mark.parametrize("dialect", Dialect)
def test_samples_of_the_schemas_of_real_services_go_to_the_dialect_and_back(dialect: Dialect) -> None:
    assert wrong(service_schemas(shared("openapi")), dialect) == []


@pytest.mark.parametrize("dialect", Dialect)
def test_every_list_of_a_real_server_is_declared_within_the_providers_limits(dialect: Dialect) -> None:
    lists = tool_lists(shared("mcp-tool-lists"))
    everything = {f"{file}.{name}": schema for file, schemas in lists.items() for name, schema in schemas.items()}
    for schemas in [*lists.values(), everything]:
        found = declared(schemas, dialect)
        assert found.set_aside.keys() | found.projections.keys() == schemas.keys()
        assert len(schemas) > 128 or not found.set_aside
        check_limits(found, dialect)


def check_limits(found: Declarations, dialect: Dialect) -> None:
    names = list(found.names.to_wire.values())
    longest = 128 if dialect in {Dialect.ANTHROPIC, Dialect.ANTHROPIC_STRICT, *GEMINI} else 64
    assert len(found.tools) <= (10_000 if "anthropic" in dialect or dialect is Dialect.BEDROCK else 128)
    assert len(set(names)) == len(names)
    assert all(0 < len(name) <= longest and name.isascii() for name in names)
    for projection in found.projections.values():
        assert projection.schema["type"] in {"object", "OBJECT"}
        assert projection.schema.keys().isdisjoint({"anyOf", "oneOf", "allOf", "not", "enum", "$ref"})


GEMINI = frozenset({Dialect.GEMINI, Dialect.GEMINI_OPENAPI})


def declared(schemas: Schemas, dialect: Dialect) -> Declarations:
    return declare([(name, "Does it.", schema) for name, schema in schemas.items()], dialect=dialect)


def wrong(schemas: Schemas, dialect: Dialect) -> list[tuple[str, str, Any]]:
    """What was read otherwise than it must be: the tool, what is wrong, and the arguments."""
    return [
        (name, fault, value)
        for name, projection in declared(schemas, dialect).projections.items()
        if (original := _compiled(schemas[name])) is not None
        for fault, value in _faults(original, projection, schemas[name])
    ]


def _faults(original: CompiledSchema, found: Projection, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    dice = Random(json.dumps(schema, sort_keys=True, default=str))
    sent = lowered(dict(found.schema))
    projected = _compiled(sent)
    if projected is None:
        yield "the projection is no schema", sent
        return
    widened = any(not loss.narrows for loss in found.losses)
    narrowed = any(loss.narrows for loss in found.losses)
    for _ in range(SAMPLES):
        value = Samples(sent, dice).one()
        taken = isinstance(value, dict) and projected.is_valid(value)
        if taken and not widened and not original.is_valid(found.back(value)):
            yield "taken by the dialect, refused by the contract, and no loss says so", value
        value = Samples(schema, dice).one()
        if not isinstance(value, dict) or not original.is_valid(value):
            continue
        there = found.there(value)
        if not projected.is_valid(there) and not narrowed:
            yield "taken by the contract, refused by the dialect, and no loss says so", value
        if found.back(there) != value and not (narrowed and "null" in json.dumps(value)):
            yield "not the same after it went there and back", value


def _compiled(schema: Any) -> CompiledSchema | None:
    try:
        return compile_schema(schema)
    except SchemaInvalid:
        return None


def shared(name: str) -> Path:
    """A folder of real documents: beside the cases of trouble, else beside the project."""
    cases = os.environ.get("INTERLOCK_TROUBLE")
    found = (Path(cases).resolve().parent if cases else SHARED) / name
    if not found.is_dir():
        pytest.skip(f"There is no {found}: name the folder beside it as INTERLOCK_TROUBLE to run this test.")
    return found


def tool_lists(folder: Path) -> Mapping[str, Schemas]:
    """The input schemas of each list, by the names of their tools."""
    lists = {}
    for file in sorted(folder.rglob("*.json")):
        listed = json.loads(file.read_text(encoding="utf-8")).get("tools")
        if isinstance(listed, list):
            lists[file.stem] = {tool["name"]: tool["inputSchema"] for tool in listed}
    return lists


def service_schemas(folder: Path) -> Schemas:
    """The component schemas and request bodies of each document as the members of a tool's arguments."""
    found: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        known = document.get("components", {}).get("schemas", {})
        definitions = json.loads(json.dumps(known).replace("#/components/schemas/", "#/$defs/"))
        for name, schema in {**definitions, **dict(_bodies(document))}.items():
            spelled = json.loads(json.dumps(schema).replace("#/components/schemas/", "#/$defs/"))
            arguments = {"type": "object", "properties": {"body": spelled}, "required": ["body"], "$defs": definitions}
            found[f"{file.stem} {name}"] = arguments
    return found


def _bodies(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    items = [item for item in document.get("paths", {}).values() if isinstance(item, dict)]
    operations = [one for item in items for one in item.values() if isinstance(one, dict)]
    for number, operation in enumerate(operations):
        for kind, media in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{number} {kind}", media.get("schema", {})
