"""Declared replies say what results look like and which statuses mean what, and prove no more than they do."""

from typing import Any

import pytest

from tests.openapi_documents import document, read, unmade

pytestmark = pytest.mark.requirement("REG-9")

JSON = "application/json"


def of(responses: Any, method: str = "get") -> Any:
    return document({"/x": {method: {"responses": responses}}})


def reply(schema: Any, kind: str = JSON) -> dict[str, Any]:
    return {"description": "Fine.", "content": {kind: {"schema": schema}}}


@pytest.mark.parametrize(
    ("responses", "wanted"),
    [
        ({"200": reply({"type": "integer"})}, {"type": "integer"}),
        ({"200": reply({"type": "integer"}), "204": {}}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"200": reply({"type": "integer"}), "201": reply({"type": "integer"})}, {"type": "integer"}),
        ({"200": {**reply({}, "text/csv")}}, {"type": "string"}),
        ({"200": {**reply({}, "image/png")}}, None),
        ({"200": reply({"type": "integer"}), "202": {"description": "later"}}, None),
        ({"default": reply({"type": "integer"})}, None),
        ({"2XX": reply({"type": "integer"})}, {"type": "integer"}),
        ({"200": reply({"$ref": "#/nowhere"})}, None),
        ({"200": reply({"type": "strnig"})}, None),
        ({}, None),
    ],
)
def test_results_are_checked_where_all_good_replies_are_described(responses: Any, wanted: Any) -> None:
    found = read(of(responses))
    assert found.options["output_schema"] == wanted
    assert found.options["output_check"] == "warn"


def test_a_schema_of_results_that_cannot_be_used_is_said_and_costs_no_tool() -> None:
    assert "results are not checked" in read(of({"200": reply({"type": "strnig"})})).notes[0]


def test_statuses_of_a_read_end_it_as_the_contract_says() -> None:
    given = {"200": {}, "404": {"description": "No such pet."}, "429": {}, "500": {}, "5XX": {}, "default": {}}
    errors = read(of(given)).options["errors"]
    assert [(each.status, each.code, each.retryable, each.description) for each in errors] == [
        (404, "HTTP_404", False, "No such pet."),
        (429, "HTTP_429", True, ""),
        (500, "HTTP_500", False, ""),
    ]
    assert not any(each.nothing_happened for each in errors)


def test_a_servers_own_fault_proves_nothing_of_an_effect() -> None:
    given = {"400": {}, "408": {}, "500": {}, "503": {}}
    assert [each.status for each in read(of(given, "post")).options["errors"]] == [400]


def test_a_stream_of_events_is_not_asked_for() -> None:
    stream = reply({}, "text/event-stream")
    assert "stream of events" in unmade(of({"200": stream})).reason
    both = {"200": {"content": {**stream["content"], JSON: {"schema": {"type": "integer"}}}}}
    found = read(of(both))
    assert found.options["headers"] == {"Accept": JSON}
    assert found.options["output_schema"] == {"type": "integer"}
    assert found.notes == ("a stream of events is not asked for",)


def test_json_is_asked_for_where_there_are_other_kinds() -> None:
    both = {"200": {"content": {"application/xml": {}, JSON: {}}}}
    assert read(of(both)).options["headers"] == {"Accept": JSON}
    assert read(of({"200": reply({})})).options["headers"] == {}
