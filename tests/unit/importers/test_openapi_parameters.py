"""Parameters stand where the document says; what cannot be written makes no tool, and no credential is an argument."""

from typing import Any

import pytest

from interlock.core.http_template import Place, Style
from interlock.importers.openapi_document import Unfit
from interlock.importers.openapi_parameters import written
from tests.openapi_documents import document, operation, parameter, read, unmade

pytestmark = pytest.mark.requirement("REG-9")

STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("style", "explode", "place", "wanted"),
    [
        (None, None, Place.PATH, (Style.SIMPLE, False)),
        (None, None, Place.QUERY, (Style.FORM, True)),
        (None, None, Place.COOKIE, (Style.FORM, True)),
        ("pipeDelimited", None, Place.QUERY, (Style.PIPE, False)),
        ("spaceDelimited", True, Place.QUERY, (Style.FORM, True)),
        ("deepObject", True, Place.QUERY, (Style.DEEP, True)),
        ("matrix", True, Place.PATH, (Style.MATRIX, True)),
    ],
)
def test_style_and_explode_have_the_defaults_of_the_specification(
    style: str | None, explode: bool | None, place: Place, wanted: tuple[Style, bool]
) -> None:
    assert written(style, explode, place=place, pointer="") == wanted


@pytest.mark.parametrize(("style", "place"), [("json", Place.QUERY), ("matrix", Place.QUERY), (7, Place.PATH)])
def test_a_style_of_no_such_place_is_refused(style: Any, place: Place) -> None:
    with pytest.raises(Unfit, match="none of a"):
        written(style, None, place=place, pointer="")


def test_those_of_an_operation_take_the_place_of_those_of_its_path() -> None:
    shared = [parameter("a", "query", STRING), parameter("b", "query", STRING)]
    own = [parameter("a", "query", {"type": "integer"}, required=True), parameter("a", "header", STRING)]
    found = read(document({"/x": {"parameters": shared, "get": {"parameters": own, "responses": {}}}}))
    assert [(each.name, each.place, each.schema["type"], each.required) for each in found.parameters] == [
        ("a", Place.QUERY, "integer", True),
        ("b", Place.QUERY, "string", False),
        ("header_a", Place.HEADER, "string", False),
    ]


def test_headers_that_are_no_callers_are_left_out_and_said() -> None:
    names = ("Authorization", "Accept", "Content-Type", "Idempotency-Key", "Connection", "User-Agent", "X-Trace")
    found = read(operation(parameters=[parameter(name, "header", STRING) for name in names]))
    assert [each.wire_name for each in found.parameters] == ["X-Trace"]
    assert len(found.notes) == 6


def test_a_parameter_with_a_media_type_is_sent_as_json() -> None:
    given = {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}}
    (found,) = read(operation(parameters=[given])).parameters
    assert found.style is Style.JSON


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": "a", "in": "query"}, "neither schema nor content"),
        ({"name": "a", "in": "querystring", "content": {}}, "querystring"),
        ({"name": "a", "in": "query", "content": {"text/csv": {}}}, "text/csv"),
        ({"name": "", "in": "query", "schema": {}}, "needs a name"),
        ({"name": "Cookie", "in": "header", "schema": {}, "required": True}, "no header"),
        ({"name": "id", "in": "path", "schema": {}}, "must stand once in the path"),
        ([], "must be an object"),
    ],
)
def test_what_cannot_be_sent_is_listed_with_its_reason(given: Any, says: str) -> None:
    assert says in unmade(operation(parameters=[given])).reason


def test_a_path_whose_parameter_is_not_declared_is_listed() -> None:
    assert "{id}" in unmade(document({"/x/{id}": {"get": {"responses": {}}}})).reason


def test_reserved_characters_are_kept_in_a_query_alone() -> None:
    given = [parameter(place, place, STRING, allowReserved=True) for place in ("query", "header")]
    assert [each.reserved for each in read(operation(parameters=given)).parameters] == [True, False]
