"""Documents of others, whole: each operation makes a tool that can be registered, or is listed with its reason."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from interlock.core.tool_compile import compile_tool
from interlock.importers.openapi_document import METHODS, OpenApi, read_openapi
from interlock.importers.openapi_operations import Reader
from interlock.importers.openapi_snapshot import read_snapshot, write_snapshot
from tests.openapi_documents import SERVER, allowed, document, loaded, of_schema, parameter, taken

pytestmark = [pytest.mark.requirement("REG-9")]

ROOT = Path(__file__).resolve().parents[2]
SHARED = {
    "callbacks-3.0.json": (1, 1),
    "petstore-3.1.json": (19, 1),
    "polymorphism-3.0.json": (13, 0),
    "schema-types-3.1.json": (23, 0),
    "uspto-3.0.json": (3, 0),
}
"""How many tools each makes, and how many places it lists: a webhook's callback, and a body of plain bytes."""


def operations(found: OpenApi) -> Iterator[str]:
    for path, item in found.root["paths"].items():  # type: ignore[union-attr]
        yield from (f"{method.upper()} {path}" for method in METHODS if method in item)  # type: ignore[operator]


def all_accounted_for(found: OpenApi, *, server: str = SERVER) -> tuple[int, int]:
    """Every operation once, and every tool compiled as a gate does it."""
    snapshot = taken(found, server=server)
    assert {*operations(found)} == {*snapshot.operations, *[key for key in snapshot.not_tools if " /" in key]}
    assert all(reason and "#/" in reason for reason in snapshot.not_tools.values())
    assert read_snapshot(write_snapshot(snapshot).encode()) == snapshot
    result = loaded(found, server=server)
    assert not result.refused
    for each in result.tools:
        compile_tool(each.spec())
    return len(result.tools), len(snapshot.not_tools)


@pytest.mark.parametrize("name", SHARED)
def test_a_published_document_is_accounted_for(openapi_documents: Path, name: str) -> None:
    assert all_accounted_for(read_openapi((openapi_documents / name).read_bytes())) == SHARED[name]


def content(schema: Any, kind: str = "application/json") -> dict[str, Any]:
    return {"content": {kind: {"schema": schema}}}


def everything() -> OpenApi:
    """What the published ones lack: cookies, no operationId, recursion, files, streams, odd names, other servers."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "id": {"readOnly": True}}}
    file = {"type": "object", "properties": {"file": {"contentMediaType": "image/png"}, "note": {"type": "string"}}}
    stream = {"200": {"content": {"text/event-stream": {}}}}
    paths: dict[str, Any] = {
        "/cookies": {"get": {"parameters": [parameter("sid", "cookie", {"type": "string"})], "responses": {}}},
        "/nodes": {"post": {"requestBody": content({"$ref": "#/components/schemas/Node"})}},
        "/files": {"post": {"requestBody": content(file, "multipart/form-data")}},
        "/events": {"get": {"responses": stream}},
        "/宠物/{编号}": {"get": {"parameters": [parameter("编号", "path", {"type": "string"})], "responses": {}}},
        "/up": {"put": {"servers": [{"url": "https://up.example.com"}], "responses": {}}},
        "/bytes": {"post": {"requestBody": {"required": True, "content": {"image/png": {}}}, "responses": {}}},
        "/trace": {"trace": {}, "options": {}, "head": {}},
        "/outside": {"get": {"responses": {}, "parameters": [{"$ref": "file:///etc/passwd"}]}},
    }
    return document(paths, components={"schemas": {"Node": node}})


def test_a_document_of_all_that_is_odd_is_accounted_for() -> None:
    assert all_accounted_for(everything()) == (4, 7)


def test_a_path_that_needs_encoding_is_listed_and_not_guessed_at() -> None:
    reasons = {each.key: each.reason for each in Reader(everything(), SERVER).all().unmade}
    assert "must encode" in reasons["GET /宠物/{编号}"]
    assert "/etc/passwd" in reasons["GET /outside"]
    assert "root:" not in repr(reasons)


def big(count: int) -> bytes:
    """A document of many operations over shared schemas."""
    schemas = {
        f"S{at}": {
            "type": "object",
            "properties": {f"p{k}": {"$ref": f"#/components/schemas/S{(at * 7 + k) % 200}"} for k in range(3)}
            | {f"t{k}": {"type": "string", "description": "A text. " * 4} for k in range(12)},
        }
        for at in range(200)
    }
    paths = {
        f"/things{at}/{{id}}": {
            "patch": {
                "operationId": f"patch{at}",
                "parameters": [parameter("id", "path", {"type": "string"})],
                "requestBody": content({"type": "array", "items": {"type": "string"}}),
                "responses": {"200": content({"$ref": f"#/components/schemas/S{at % 200}"})},
            }
        }
        for at in range(count)
    }
    return json.dumps({"openapi": "3.0.3", "info": {}, "paths": paths, "components": {"schemas": schemas}}).encode()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_thousands_of_operations_are_imported_in_seconds_and_a_few_of_them_loaded_at_once() -> None:
    began = process_time()
    found = read_openapi(big(2_000))
    snapshot = taken(found)
    assert len(snapshot.operations) == 2_000
    assert len(write_snapshot(snapshot)) < 4_000_000
    took = process_time() - began
    assert took < 30
    few = {key: each for key, each in allowed(snapshot).operations.items() if key.endswith("7/{id}")}
    assert len(few) == 200


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_largest_published_document_is_accounted_for() -> None:
    default = ROOT / "tests/node/node_modules/@octokit/openapi/generated/api.github.com.json"
    path = Path(os.environ.get("INTERLOCK_OCTOKIT_OPENAPI") or default)
    if not path.is_file():
        pytest.skip(f"INTERLOCK_OCTOKIT_OPENAPI names no file: api.github.com.json of npm's @octokit/openapi ({path}).")
    found = read_openapi(path.read_bytes())
    began = process_time()
    made, listed = all_accounted_for(found, server="https://api.github.com")
    assert made + listed == sum(1 for _ in operations(found))
    assert made > 1_000
    assert listed < 10
    assert process_time() - began < 120


def test_a_document_cannot_grow_while_it_is_read() -> None:
    chain = {f"N{at}": {"allOf": [{"$ref": f"#/components/schemas/N{at + 1}"}] * 9} for at in range(60)}
    found = of_schema({"$ref": "#/components/schemas/N0"}, **chain, N60={"type": "string"})
    began = process_time()
    assert Reader(found, SERVER).all().unmade
    assert process_time() - began < 5
