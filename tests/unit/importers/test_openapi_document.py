"""A document is asked by local references alone, and every place of it that makes no tool is listed."""

import json

import pytest

from interlock.core.errors import SpecInvalid
from interlock.importers.openapi_document import Unfit, local, read_openapi, words
from interlock.importers.openapi_operations import Reader
from tests.openapi_documents import SERVER, document, operation, parameter, read, unmade

pytestmark = pytest.mark.requirement("REG-9")


@pytest.mark.parametrize("root", [[], {}, {"openapi": "4.0.0"}, {"openapi": 3}, {"swagger": "1.2"}])
def test_what_is_no_document_that_we_know_is_refused(root: object) -> None:
    with pytest.raises(SpecInvalid):
        read_openapi(json.dumps(root).encode())


def test_schemas_of_another_dialect_are_not_guessed_at() -> None:
    with pytest.raises(SpecInvalid, match="draft-07"):
        document(jsonSchemaDialect="http://json-schema.org/draft-07/schema#")


@pytest.mark.parametrize(
    "reference",
    ["file:///etc/passwd", "/etc/passwd", "http://169.254.169.254/", "other.yaml#/X", "#", "#anchor", "", 7, None],
)
def test_a_reference_that_leads_outside_is_refused_unread_and_harms_no_other(reference: object) -> None:
    bad = {"get": {"parameters": [parameter("q", "query", {"$ref": reference})], "responses": {}}}
    reading = Reader(document({"/bad": bad, "/good": {"get": {"responses": {}}}}), SERVER).all()
    assert [each.key for each in reading.operations] == ["GET /good"]
    (listed,) = reading.unmade
    assert (listed.key, listed.pointer) == ("GET /bad", "/paths/~1bad/get/parameters/0/schema")
    assert "only references within the document" in listed.reason


@pytest.mark.parametrize("reference", ["#/components/parameters/loop", "#/nowhere", "#/paths/~1x/get/parameters/9"])
def test_a_reference_that_leads_nowhere_makes_no_tool(reference: str) -> None:
    loop = {"parameters": {"loop": {"$ref": "#/components/parameters/loop"}}}
    found = document({"/x": {"get": {"parameters": [{"$ref": reference}], "responses": {}}}}, components=loop)
    assert "lead" in unmade(found).reason


def test_a_shared_path_is_read_and_pointers_may_be_encoded() -> None:
    shared = {"get": {"responses": {}, "parameters": [{"$ref": "#/components/parameters/a%20b"}]}}
    components = {"pathItems": {"P": shared}, "parameters": {"a b": parameter("q", "query", {})}}
    found = document({"/x": {"$ref": "#/components/pathItems/P"}}, components=components)
    assert [each.name for each in read(found).parameters] == ["q"]
    assert found.place("GET /x") is not None
    assert found.place("GET /y") is None
    assert found.place("POST /x") is None


def test_requests_of_the_server_are_listed_and_make_no_tool() -> None:
    post = {"post": {"responses": {}}}
    get = {"get": {"responses": {}, "callbacks": {"done": {"{$request.body#/url}": post}}}}
    reading = Reader(document({"/x": get, "/y": 7}, webhooks={"hook": post}), SERVER).all()
    assert {each.pointer for each in reading.unmade} == {
        "/paths/~1x/get/callbacks/done",
        "/webhooks/hook",
        "/paths/~1y",
    }


def test_methods_that_no_tool_sends_are_listed() -> None:
    assert "OPTIONS" in unmade(document({"/x": {"options": {"responses": {}}}})).reason
    assert "object" in unmade(document({"/x": {"get": 1}})).reason


def test_words_are_cleaned_and_bounded() -> None:
    assert words("safe\u200b\U000e0041 words", 100) == "safe words"
    assert words("x" * 50, 10) == "x" * 9 + "…"
    assert words(7, 10) == ""
    assert operation(description="a\u202eb").root


def test_a_local_reference_is_a_pointer() -> None:
    assert local("#/a~1b/%7Bc%7D", "/here") == "/a~1b/{c}"
    with pytest.raises(Unfit):
        local("https://example.com/#/a", "/here")
