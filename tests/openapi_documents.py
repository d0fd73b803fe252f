"""What tests of imported OpenAPI documents share: small documents, and the tools that come of them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interlock.declare.http import HttpTool
from interlock.importers.openapi import Loaded, load_openapi
from interlock.importers.openapi_document import OpenApi, read_openapi
from interlock.importers.openapi_operations import Read, Reader, Unmade
from interlock.importers.openapi_snapshot import Snapshot, take_snapshot

SERVER = "https://api.example.com/v1"

Given = Mapping[str, Any]


def document(paths: Given | None = None, *, version: str = "3.1.0", **others: Any) -> OpenApi:
    """A document of these paths, read from its text as any other is."""
    named = {"swagger" if version.startswith("2") else "openapi": version}
    root = {**named, "info": {"title": "Pets", "version": "1"}, "paths": paths or {}, **others}
    return read_openapi(json.dumps(root).encode())


def of_schema(schema: Any, *, version: str = "3.1.0", **schemas: Any) -> OpenApi:
    """A document with one operation, which sends the schema and gets it back."""
    content = {"content": {"application/json": {"schema": schema}}}
    operation = {"requestBody": {**content}, "responses": {"200": {"description": "", **content}}}
    return document({"/x": {"post": operation}}, version=version, components={"schemas": schemas})


def read(found: OpenApi, key: str = "", *, server: str = SERVER) -> Read:
    """An operation that makes a tool; the only one where none is named."""
    reading = Reader(found, server).all()
    assert not [each for each in reading.unmade if not key or each.key == key], reading.unmade
    return next(each for each in reading.operations if key in ("", each.key))


def unmade(found: OpenApi) -> Unmade:
    """The one place that makes no tool."""
    (only,) = Reader(found, SERVER).all().unmade
    return only


def operation(**given: Any) -> OpenApi:
    """A document of one GET with these members."""
    return document({"/x": {"get": {"responses": {}, **given}}})


def allowed(snapshot: Snapshot, **decided: Any) -> Snapshot:
    """The snapshot with every operation allowed, and decided so."""
    operations = {key: replace(each, allow=True, **decided) for key, each in snapshot.operations.items()}
    return replace(snapshot, operations=operations)


def taken(found: OpenApi, *, server: str = SERVER) -> Snapshot:
    """Its snapshot."""
    return take_snapshot(found, owner="pets", server=server)


def loaded(found: OpenApi, *, server: str = SERVER, **decided: Any) -> Loaded:
    """All that it makes, every operation allowed."""
    return load_openapi(allowed(taken(found, server=server), **decided), found)


def tool(found: OpenApi, **decided: Any) -> HttpTool:
    """The one tool that it makes."""
    result = loaded(found, **decided)
    assert not result.refused, result.refused
    (only,) = result.tools
    return only


def parameter(name: str, where: str, schema: Any, **others: Any) -> dict[str, Any]:
    """A parameter as a document says it."""
    return {"name": name, "in": where, "schema": schema, **({"required": True} if where == "path" else {}), **others}
