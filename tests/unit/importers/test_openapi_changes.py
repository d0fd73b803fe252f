"""What is to be reviewed is told by operation and field."""

from typing import Any

import pytest

from interlock.importers.openapi_changes import Changes, Field, changes, fields
from tests.openapi_documents import document, parameter, taken

pytestmark = pytest.mark.requirement("REG-9")


def of(**paths: Any) -> Any:
    return taken(document({f"/{name}": each for name, each in paths.items()}))


def test_new_gone_and_changed_operations_are_told_with_their_fields() -> None:
    plain = {"get": {"summary": "Plain.", "responses": {}}}
    other = {"get": {"summary": "Other.", "responses": {}, "parameters": [parameter("q", "query", {"type": "string"})]}}
    found = changes(of(a=plain, b=plain), of(a=other, c=plain))
    assert (found.new, found.gone, found.any) == (("GET /c",), ("GET /b",), True)
    (title, description, added) = (found.changed or {})["GET /a"]
    assert (title, description.name) == (Field("title", "Plain.", "Other."), "description")
    assert (added.name, added.before) == ("parameter q", "")
    assert added.now.startswith("query q form optional string sha256:")


def test_what_can_be_a_tool_no_longer_is_told_with_its_reason() -> None:
    bad = {"get": {"responses": {}, "parameters": [{"$ref": "file:///etc/passwd"}]}}
    found = changes(of(a={"get": {"responses": {}}}), of(a=bad))
    assert found.gone == ("GET /a",)
    ((reason,),) = (found.not_tools or {}).values()
    assert "file:///etc/passwd" in reason.now


def test_what_nobody_reads_changes_nothing() -> None:
    plain = {"get": {"responses": {}, "tags": ["a"]}}
    assert not changes(of(a=plain), of(a={"get": {"responses": {}, "tags": ["b"]}})).any
    assert not Changes().any


def test_remarks_are_no_field() -> None:
    assert fields({"remarks": "a", "x": "1"}, {"remarks": "b", "x": "1"}) == ()
