"""Schemas that crashed, froze or were silently reinterpreted elsewhere."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock.core.schema import SchemaInvalid, compile_schema

TroubleCase = Callable[[str], Mapping[str, Any]]

pytestmark = pytest.mark.trouble


@pytest.mark.requirement("CALL-6")
def test_a_schema_that_refers_to_itself_is_kept_and_followed(trouble_case: TroubleCase) -> None:
    schema = trouble_case("SCH-01")["input"]["schema"]
    compiled = compile_schema(schema)
    assert compiled.schema == schema
    assert compiled.is_valid({"root": {"children": [{"children": []}]}})
    (violation,) = compiled.violations({"root": {"children": [{"children": [1]}]}})
    assert violation.path == "/root/children/0/children/0"


@pytest.mark.requirement("CALL-5")
@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        ({"a": None}, True),
        ({"a": ["x"], "s": None, "n": None}, True),
        ({"a": ["x"], "s": "x", "n": "x"}, True),
        ({"a": [1]}, False),
        ({"a": None, "s": 1}, False),
        ({"a": None, "n": 1}, False),
        ({}, False),
    ],
)
def test_nullable_types_validate_as_json_schema_says(
    trouble_case: TroubleCase, arguments: dict[str, Any], valid: bool
) -> None:
    assert compile_schema(trouble_case("SCH-03")["input"]["schema"]).is_valid(arguments) is valid


@pytest.mark.requirement("CALL-6")
@pytest.mark.timeout(5)
def test_a_pattern_that_backtracks_elsewhere_answers_at_once(trouble_case: TroubleCase) -> None:
    case = trouble_case("SCH-05")["input"]
    compiled = compile_schema(case["schema"])
    assert [each.path for each in compiled.violations(case["arguments"])] == ["/m", "/s"]
    assert not compiled.is_valid({"s": "a" * 100_000 + "!"})


@pytest.mark.requirement("CALL-5")
def test_a_default_is_put_in_and_satisfies_required(trouble_case: TroubleCase) -> None:
    case = trouble_case("SCH-06")["input"]
    compiled = compile_schema(case["schema"])
    filled = compiled.with_defaults(case["arguments"])
    assert filled == {"n": 10, "m": "x"}
    assert compiled.is_valid(filled)


@pytest.mark.requirement("CALL-5")
def test_a_default_that_does_not_fit_is_refused_at_registration(trouble_case: TroubleCase) -> None:
    schema = {**trouble_case("SCH-06")["input"]["schema"]}
    schema["properties"] = {**schema["properties"], "n": {"type": "integer", "default": "ten"}}
    with pytest.raises(SchemaInvalid):
        compile_schema(schema)
