"""Bodies are taken by the first kind that can be sent, in parts where the parts say all of it."""

from typing import Any

import pytest

from interlock.core.http_template import BodyKind, Style
from interlock.importers.openapi_operations import Read, Reader
from tests.openapi_documents import SERVER, document, read

pytestmark = pytest.mark.requirement("REG-9")

PET = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}


def of(content: Any, *, required: bool = True, method: str = "post", version: str = "3.1.0") -> Any:
    given = {"responses": {}, "requestBody": {"required": required, "content": content}}
    found = document({"/x": {method: given}}, version=version, components={"schemas": {"Pet": PET}})
    reading = Reader(found, SERVER).all()
    return reading.operations[0] if reading.operations else reading.unmade[0].reason


def names(found: Read) -> list[tuple[str, bool]]:
    return [(each.name, each.required) for each in found.parameters]


@pytest.mark.parametrize("schema", [PET, {"$ref": "#/components/schemas/Pet"}, {**PET, "additionalProperties": False}])
def test_a_plain_object_is_taken_by_its_properties(schema: Any) -> None:
    found = of({"application/json": {"schema": schema}})
    assert names(found) == [("name", True), ("age", False)]


@pytest.mark.parametrize(
    "schema",
    [
        {**PET, "additionalProperties": True},
        {**PET, "oneOf": [{}]},
        {**PET, "minProperties": 1},
        {**PET, "required": ["other"]},
        {"type": "array", "items": PET},
        {"type": ["object", "null"], "properties": {"a": {}}},
        {"type": "object"},
        True,
    ],
)
def test_anything_else_is_one_argument(schema: Any) -> None:
    found = of({"application/json": {"schema": schema}})
    assert names(found) == [("body", True)]
    assert found.parameters[0].is_whole


def test_a_body_that_may_be_left_out_is_one_argument_that_may() -> None:
    assert names(of({"application/json": {"schema": PET}}, required=False)) == [("body", False)]


def test_the_first_kind_that_can_be_sent_is_taken_and_the_others_are_named() -> None:
    found = of({"application/xml": {"schema": PET}, "multipart/form-data": {"schema": PET}, "application/json": {}})
    assert found.options["body"] is BodyKind.MULTIPART
    assert found.notes == ("a body could also be application/xml, application/json",)
    passed = of({"multipart/form-data": {"schema": {"type": "string"}}, "application/json": {"schema": PET}})
    assert passed.options["body"] is BodyKind.JSON


def test_a_kind_of_json_is_sent_as_that_kind() -> None:
    (found,) = of({"application/merge-patch+json": {"schema": PET}}, method="patch").parameters
    assert (found.is_whole, found.media_type) == (True, "application/merge-patch+json")


@pytest.mark.parametrize("kind", ["application/octet-stream", "text/plain", "application/xml"])
def test_a_body_that_cannot_be_sent_is_listed(kind: str) -> None:
    assert kind in of({kind: {"schema": PET}})


def test_a_read_has_no_body() -> None:
    assert "GET has no body" in of({"application/json": {"schema": PET}}, method="get")
    found = of({"application/json": {"schema": PET}}, method="get", required=False)
    assert (names(found), found.notes) == ([], ("a body could also be application/json",))


def test_a_form_is_written_as_its_encoding_says() -> None:
    properties = {"deep": {"type": "object"}, "list": {"type": "array"}, "pipes": {"type": "array"}, "text": {}}
    encoding = {"pipes": {"style": "pipeDelimited"}, "text": {"contentType": "application/json"}}
    schema = {"type": "object", "properties": properties}
    found = of({"application/x-www-form-urlencoded": {"schema": schema, "encoding": encoding}})
    assert {each.name: (each.style, each.explode) for each in found.parameters} == {
        "deep": (Style.JSON, False),
        "list": (Style.FORM, True),
        "pipes": (Style.PIPE, False),
        "text": (Style.JSON, False),
    }


def test_files_are_given_in_base64_and_sent_as_bytes() -> None:
    file = {"type": "string", "format": "binary", "description": "A photo."}
    properties = {"one": file, "many": {"type": "array", "items": file}, "note": {"type": "string"}}
    schema = {"allOf": [{"type": "object", "properties": properties}, {"required": ["one"]}]}
    encoding = {"one": {"contentType": "image/png, image/jpeg"}, "many": {"contentType": "image/*"}}
    found = of({"multipart/form-data": {"schema": schema, "encoding": encoding}}, version="3.0.3")
    one, many, note = found.parameters
    assert (one.is_base64, one.media_type, one.filename, one.required) == (True, "image/png", "one", True)
    assert one.schema["contentEncoding"] == "base64"
    assert one.schema["description"] == "A photo.\nIn base64; what is sent are the bytes."
    assert (many.is_base64, many.media_type, many.schema["type"]) == (True, "", "array")
    assert not note.is_base64


@pytest.mark.parametrize(
    "schema", [{}, {"type": "string"}, {"oneOf": [PET, PET]}, {"$ref": "#/components/schemas/None"}]
)
def test_a_form_without_listed_fields_is_listed(schema: Any) -> None:
    assert isinstance(of({"multipart/form-data": {"schema": schema}}), str)


def test_a_schema_that_leads_back_to_itself_ends() -> None:
    loop = {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/Loop"}}}
    content = {"multipart/form-data": {"schema": loop}}
    given = {"responses": {}, "requestBody": {"required": True, "content": content}}
    schemas = {"Loop": {"allOf": [{"$ref": "#/components/schemas/Loop"}]}}
    reading = Reader(document({"/x": {"post": given}}, components={"schemas": schemas}), SERVER).all()
    assert len(reading.operations) + len(reading.unmade) == 1
    assert read(document({"/ok": {"get": {"responses": {}}}}))
