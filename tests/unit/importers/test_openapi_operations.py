"""An operation is read whole, with all that a model, a policy or a request has of it under its digest."""

from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.importers.openapi_operations import DESCRIPTION_MAX, Reader
from tests.openapi_documents import SERVER, document, operation, parameter, read, unmade

pytestmark = pytest.mark.requirement("REG-9")


@pytest.mark.parametrize(
    ("method", "effect"),
    [
        ("get", Effect.READ),
        ("head", Effect.READ),
        ("post", Effect.WRITE),
        ("put", Effect.WRITE),
        ("patch", Effect.WRITE),
        ("delete", Effect.DESTRUCTIVE),
    ],
)
def test_what_is_not_proved_a_read_is_an_effect(method: str, effect: Effect) -> None:
    assert read(document({"/x": {method: {"responses": {}}}})).options["effect"] is effect


def test_the_extension_says_what_the_method_does_not() -> None:
    given = {"effect": "read", "key": ["q"], "risk": "high", "resource": {"type": "Pet", "id": "q"}}
    parameters = [parameter("q", "query", {"type": "string"})]
    found = read(document({"/x": {"post": {"responses": {}, "parameters": parameters, "x-interlock": given}}}))
    assert (found.options["effect"], found.options["key"]) == (Effect.READ, ["q"])
    assert found.options["resource"] == ["Pet", "q"]
    assert {name for name in found.facts if name.startswith("x-")} == {
        f"x-interlock {name}" for name in ("key", "risk", "resource")
    }


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tool": False}, "says that it is no tool"),
        ({"effect": "harmless"}, "effect is read"),
        ({"owner": "me"}, "no 'owner'"),
        ({"key": ["nope"]}, "nope"),
    ],
)
def test_an_extension_that_cannot_be_meant_is_listed(given: Any, says: str) -> None:
    assert says in unmade(operation(**{"x-interlock": given})).reason


def test_words_are_those_of_the_document_bounded_and_never_empty() -> None:
    long = read(operation(summary="List pets\u200b.", description="x" * 5_000, deprecated=True))
    assert long.options["title"] == "List pets."
    assert len(long.options["description"]) < DESCRIPTION_MAX + 100
    assert long.options["description"].endswith("Deprecated.")
    assert read(operation()).options["description"] == "GET /x of Pets."


def test_pages_are_hinted_at() -> None:
    given = [parameter(name, "query", {"type": "integer"}) for name in ("q", "page", "per-page")]
    said = read(operation(parameters=given)).options["description"]
    assert said.endswith("Results come in pages: see page, per-page.")


@pytest.mark.parametrize(
    "change",
    [
        {"summary": "other"},
        {"description": "other"},
        {"parameters": [parameter("q", "query", {"type": "integer"})]},
        {"parameters": [parameter("q", "query", {"type": "string", "description": "other"})]},
        {"parameters": [parameter("q", "query", {"type": "string"}, required=True)]},
        {"parameters": [parameter("q", "query", {"type": "string"}, style="pipeDelimited")]},
        {"responses": {"404": {}}},
        {"responses": {"200": {"content": {"application/json": {"schema": {}}, "text/csv": {}}}}},
        {"security": [{"key": []}]},
        {"x-interlock": {"effect": "write"}},
        {"x-interlock": {"risk": "high"}},
    ],
)
def test_whatever_a_model_or_a_policy_reads_is_under_the_digest(change: dict[str, Any]) -> None:
    schemes = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "k"}}}
    first: dict[str, Any] = {"responses": {}, "parameters": [parameter("q", "query", {"type": "string"})]}
    before, after, same = (
        read(document({"/x": {"get": {**first, **each}}}, components=schemes))
        for each in ({}, change, {"tags": ["other"], "operationId": "other", "x-other": 1})
    )
    assert before.digest != after.digest
    assert before.shown != after.shown
    assert before.digest == same.digest


def test_a_change_deep_within_a_shared_schema_is_under_the_digest_of_who_uses_it() -> None:
    def of(kind: str) -> Any:
        schemas = {"A": {"properties": {"b": {"$ref": "#/components/schemas/B"}}}, "B": {"type": kind}}
        uses = {"get": {"responses": {}, "parameters": [parameter("q", "query", {"$ref": "#/components/schemas/A"})]}}
        found = document({"/x": uses, "/y": {"get": {"responses": {}}}}, components={"schemas": schemas})
        return {each.key: each.digest for each in Reader(found, SERVER).all().operations}

    before, after = of("string"), of("integer")
    assert before["GET /x"] != after["GET /x"]
    assert before["GET /y"] == after["GET /y"]
