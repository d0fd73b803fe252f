"""Defaults, units, sources and members that are gone: what validates as before and means something else."""

from typing import Any

import pytest

from interlock.core.canonical import Json
from interlock.core.compatibility import compare
from interlock.core.compatibility_parameters import declared
from interlock.core.tool import Parameter, ParameterSource
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, opened, spec

pytestmark = pytest.mark.requirement("REG-5")

MODEL, USER, CONTEXT = ParameterSource.MODEL, ParameterSource.USER, ParameterSource.CONTEXT


def test_another_default_breaks_and_one_that_was_not_written_down_is_uncertain() -> None:
    three, four = ({"limit": {"type": "integer", "default": each}} for each in (3, 4))
    assert of_schemas(closed(**three), closed(**four)) == [("/limit", "default-changed", "breaking")]
    assert of_schemas(closed(limit=NUMBER), closed(**three)) == [("/limit", "default-added", "uncertain")]
    assert of_schemas(closed(**three), closed(limit=NUMBER)) == [("/limit", "default-dropped", "uncertain")]
    assert of_schemas(closed("limit", limit=NUMBER), closed(**three)) == [("/limit", "default-added", "compatible")]


def test_a_default_below_counts_where_it_is_put_in() -> None:
    inner = [closed(x={"type": "integer", "default": each}) for each in (1, 2)]
    lists = [closed(a={"type": "array", "items": each}) for each in inner]
    assert of_schemas(*lists) == [("/a/*/x", "default-changed", "breaking")]
    chosen = [closed(a={"anyOf": [each, {"type": "null"}]}) for each in inner]
    assert of_schemas(*chosen) == []


def test_a_member_that_is_gone_breaks_where_an_open_object_still_takes_it() -> None:
    assert of_schemas(opened(a=TEXT, b=closed(c=TEXT)), opened(a=TEXT)) == [("/b", "parameter-gone", "breaking")]
    assert of_schemas(opened(a=opened(b=TEXT, c=TEXT)), opened(a=opened(b=TEXT))) == [
        ("/a/c", "parameter-gone", "breaking")
    ]


def test_a_schema_that_names_nothing_any_more_has_collapsed() -> None:
    assert of_schemas(opened(a=TEXT, b=TEXT), {"type": "object"}) == [("", "collapsed", "breaking")]


@pytest.mark.parametrize(
    ("was", "now", "kind", "verdict"),
    [
        ({"unit": "s"}, {"unit": "ms"}, "unit-changed", "breaking"),
        ({}, {"unit": "ms"}, "unit-changed", "uncertain"),
        ({"currency": "EUR"}, {"currency": "USD"}, "currency-changed", "breaking"),
        ({"sensitive": True}, {}, "sensitivity-weakened", "breaking"),
        ({}, {"sensitive": True}, "sensitivity-raised", "compatible"),
        ({"source": MODEL}, {"source": USER}, "source-narrowed", "breaking"),
        ({"source": USER}, {"source": MODEL}, "source-weakened", "uncertain"),
    ],
)
def test_what_is_said_of_a_parameter_counts(was: Any, now: Any, kind: str, verdict: str) -> None:
    found = compare(spec(parameters=(Parameter("note", **was),)), spec(parameters=(Parameter("note", **now),)))
    assert [(each.path, each.kind, each.verdict.value) for each in found.findings] == [("/note", kind, verdict)]


def test_what_comes_from_the_context_is_no_longer_the_callers_to_say() -> None:
    tenant = spec(parameters=(Parameter("text", source=CONTEXT, inject="tenant"),))
    assert ("/text", "source-narrowed", "breaking") in about_parameters(spec(), tenant)
    claims = spec(parameters=(Parameter("text", source=CONTEXT, inject="claims.region"),))
    assert about_parameters(tenant, claims) == [("/text", "context-demanded", "breaking")]
    assert about_parameters(claims, tenant) == [("/text", "context-changed", "uncertain")]


def test_members_are_found_wherever_a_schema_names_them() -> None:
    schema: dict[str, Json] = {
        **opened("a", a={"allOf": [{"$ref": "#/$defs/n"}]}, b={"type": "array", "prefixItems": [opened(x=TEXT)]}),
        "$defs": {"n": opened(c={"anyOf": [opened(d=TEXT), {"$ref": "#/$defs/n"}]})},
    }
    found = declared(schema)
    assert found is not None
    assert found.keys() >= {"/a", "/a/c", "/a/c/d", "/b", "/b/0/x"}
    assert found["/a"].is_required


def test_a_schema_that_leads_everywhere_is_not_gone_through_to_its_end() -> None:
    names = [f"d{at}" for at in range(9)]
    every: dict[str, Json] = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    schema: dict[str, Json] = {**opened(**every), "$defs": {name: opened(**every) for name in names}}
    assert declared(schema) is None
    assert about_parameters(spec(schema=schema), spec(schema={**schema, "title": "T"})) == [
        ("", "too-involved", "uncertain")
    ]


def of_schemas(old: dict[str, Json], new: dict[str, Json]) -> list[tuple[str, str, str]]:
    return about_parameters(spec(schema=old), spec(schema=new))


def about_parameters(old: Any, new: Any) -> list[tuple[str, str, str]]:
    found = compare(old, new).findings
    return [(each.path, each.kind, each.verdict.value) for each in found if each.part == "parameters"]
