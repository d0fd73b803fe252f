"""A document of version 2.0 makes the tools that it means, as far as it maps."""

import pytest

from interlock.core.http_template import BodyKind, CredentialPlace, Style
from interlock.importers.openapi_operations import Reader
from interlock.importers.openapi_servers import fixed_server
from tests.openapi_documents import document, read

pytestmark = pytest.mark.requirement("REG-9")

SWAGGER = {
    "version": "2.0",
    "host": "api.example.com",
    "basePath": "/v2/",
    "schemes": ["https"],
    "consumes": ["application/json"],
    "produces": ["application/json"],
    "securityDefinitions": {"login": {"type": "basic"}, "key": {"type": "apiKey", "in": "query", "name": "k"}},
    "security": [{"login": []}],
    "parameters": {
        "Limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 9, "exclusiveMaximum": True}
    },
    "responses": {"Gone": {"description": "It is gone."}},
    "definitions": {
        "Pet": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "mother": {"$ref": "#/definitions/Pet"}},
        }
    },
}
PATHS = {
    "/pets/{id}": {
        "parameters": [{"name": "id", "in": "path", "required": True, "type": "string"}],
        "get": {
            "operationId": "getPet",
            "parameters": [
                {"$ref": "#/parameters/Limit"},
                {"name": "csv", "in": "query", "type": "array", "items": {"type": "string"}},
                {"name": "multi", "in": "query", "type": "array", "collectionFormat": "multi", "items": {}},
                {"name": "pipes", "in": "query", "type": "array", "collectionFormat": "pipes", "items": {}},
            ],
            "responses": {
                "200": {"description": "", "schema": {"$ref": "#/definitions/Pet"}},
                "404": {"$ref": "#/responses/Gone"},
            },
        },
        "put": {
            "security": [{"key": []}],
            "parameters": [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}],
            "responses": {"204": {"description": "done"}},
        },
        "post": {
            "consumes": ["multipart/form-data"],
            "parameters": [
                {"name": "photo", "in": "formData", "type": "file", "required": True},
                {"name": "note", "in": "formData", "type": "string"},
            ],
            "responses": {},
        },
        "delete": {
            "parameters": [{"name": "t", "in": "query", "type": "array", "collectionFormat": "tsv", "items": {}}],
            "responses": {},
        },
    },
    "/form": {"post": {"parameters": [{"name": "a", "in": "formData", "type": "integer"}], "responses": {}}},
}


def test_what_maps_is_read_as_3_0_is() -> None:
    found = document(PATHS, **SWAGGER)  # type: ignore[arg-type]
    assert fixed_server(found, "", {}) == "https://api.example.com/v2"
    get = read(found, "GET /pets/{id}")
    named = {each.name: each for each in get.parameters}
    assert [(each.style, each.explode) for each in named.values()] == [
        (Style.SIMPLE, False),
        (Style.FORM, True),
        (Style.FORM, False),
        (Style.FORM, True),
        (Style.PIPE, False),
    ]
    assert named["limit"].schema == {"type": "integer", "exclusiveMaximum": 9}
    assert get.options["output_schema"]["$defs"].keys() == {"Pet"}
    assert [(each.status, each.description) for each in get.options["errors"]] == [(404, "It is gone.")]
    assert [each.place for _, each in get.schemes] == [CredentialPlace.BASIC]


def test_bodies_and_forms_become_bodies() -> None:
    found = document(PATHS, **SWAGGER)  # type: ignore[arg-type]
    put, post, form = (read(found, key) for key in ("PUT /pets/{id}", "POST /pets/{id}", "POST /form"))
    assert [each.name for each in put.parameters] == ["id", "name", "mother"]
    assert put.options["body"] is BodyKind.JSON
    assert [(each.name, each.is_base64, each.required) for each in post.parameters[1:]] == [
        ("photo", True, True),
        ("note", False, False),
    ]
    assert (post.options["body"], form.options["body"]) == (BodyKind.MULTIPART, BodyKind.FORM)


def test_what_has_no_spelling_today_is_listed() -> None:
    (only,) = Reader(document(PATHS, **SWAGGER), "https://api.example.com").all().unmade  # type: ignore[arg-type]
    assert only.key == "DELETE /pets/{id}"
    assert "tabDelimited" in only.reason
