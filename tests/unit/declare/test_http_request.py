"""A declared request becomes a template and an input schema."""

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import BodyKind, Place, Slot, Style
from interlock.declare.http_request import HttpParameter, HttpRequest, schema_of, template_of


def test_a_template_holds_what_was_declared() -> None:
    key = HttpParameter("reference", "query", is_key=True)
    whole = HttpParameter("order", "body", {"type": "object"}, is_whole=True)
    template = template_of(HttpRequest("post", "https://a/v1?x=1", (key, whole), "json", {"Api-Version": "2"}))
    assert (template.method, template.path, template.query, template.body) == ("POST", "/v1", "x=1", BodyKind.JSON)
    assert template.slots == (
        Slot("", Place.QUERY, "reference", Style.FORM, explode=True),
        Slot("order", Place.BODY, "", Style.FORM, explode=True),
    )
    assert schema_of([key, whole])["required"] == ["order"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    wrong = HttpRequest("TRACE", "https://a/{b}", (HttpParameter("c", "body"),), headers={"Host": "b"})
    with pytest.raises(SpecInvalid, match=r"method.*\{b\}.*'Host'.*body"):
        template_of(wrong)


@pytest.mark.parametrize("parameters", [["a", "b"], ["a"]])
def test_the_whole_body_is_one_argument_of_json(parameters: list[str]) -> None:
    whole = tuple(HttpParameter(each, "body", is_whole=True) for each in parameters)
    with pytest.raises(SpecInvalid, match="whole"):
        template_of(HttpRequest("POST", "https://a/", whole, "form"))
