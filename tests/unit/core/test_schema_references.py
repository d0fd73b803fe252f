"""References: what each points to, by pointer, anchor, identifier and document."""

from typing import Any

import pytest

from interlock.core.schema import SchemaInvalid
from interlock.core.schema_references import References, shown

ROOT: Any = {
    "$id": "http://example.com/root",
    "$defs": {
        "a/b c": {"title": "slash"},
        "named": {"$anchor": "here", "title": "anchor"},
        "inner": {"$id": "inner", "$defs": {"x": {"title": "inner x"}}},
    },
}


def pointed(reference: str) -> Any:
    root: Any = {**ROOT, "not": {"$ref": reference}}
    references = References(root, {"http://other/doc": {"title": "document"}}, levels_max=8)
    target: Any = references.target(root["not"])
    return target["title"] if isinstance(target, dict) and "title" in target else target


@pytest.mark.parametrize(
    ("reference", "title"),
    [
        ("#/$defs/a~1b%20c", "slash"),
        ("#here", "anchor"),
        ("root#here", "anchor"),
        ("inner#/$defs/x", "inner x"),
        ("http://example.com/inner#/$defs/x", "inner x"),
        ("http://other/doc", "document"),
        ("https://json-schema.org/draft/2020-12/schema", None),
    ],
)
def test_a_reference_points_to_its_subschema(reference: str, title: str | None) -> None:
    assert pointed(reference) == title


@pytest.mark.requirement("CALL-6")
@pytest.mark.parametrize(
    "reference",
    ["#/$defs/missing", "#nowhere", "#/$id", "http://[bad", "file:///x", "#/$defs/named/title", "elsewhere"],
)
def test_a_reference_to_nothing_is_refused(reference: str) -> None:
    with pytest.raises(SchemaInvalid):
        pointed(reference)


def test_names_from_a_schema_are_cut_and_cleaned_for_messages() -> None:
    assert shown("a\n\x1b😀") == "'a???'"
    assert shown("x" * 100) == f"'{'x' * 80}' (cut)"
