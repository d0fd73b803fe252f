"""Arguments that others' runtimes repaired, rounded, or read twice with two meanings."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.canonical import canonical, decode, integral
from interlock.core.schema import compile_schema

TroubleCase = Callable[[str], Mapping[str, Any]]

pytestmark = pytest.mark.trouble


@pytest.mark.requirement("CALL-2")
def test_a_tool_without_parameters_is_called_with_nothing_in_every_spelling(trouble_case: TroubleCase) -> None:
    case = trouble_case("ARG-01")["input"]
    parsed = [parse_arguments(raw) for raw in case["arguments_variants"]]
    assert parsed == [{}] * len(parsed)
    assert compile_schema(case["tool_schema"]).is_valid({})
    assert not compile_schema({**case["tool_schema"], "required": ["a"]}).is_valid({})


@pytest.mark.requirement("CALL-2", "CALL-5")
def test_json_inside_a_string_is_refused_in_the_terms_of_the_schema(trouble_case: TroubleCase) -> None:
    case = trouble_case("ARG-02")["input"]
    arguments = parse_arguments(case["arguments"])
    assert isinstance(arguments, dict)
    (violation,) = compile_schema(case["schema"]).violations(arguments)
    assert violation.path == "/files"
    assert violation.hint == "files is a string holding JSON; send the array itself"


@pytest.mark.requirement("CALL-2")
def test_a_string_that_looks_like_json_stays_a_string_where_a_string_fits(trouble_case: TroubleCase) -> None:
    case = trouble_case("ARG-02")["input"]
    compiled = compile_schema({"properties": {"note": case["union"]}})
    arguments = parse_arguments({"note": case["note_value"]})
    assert isinstance(arguments, dict)
    assert compiled.is_valid(arguments)
    assert compiled.with_defaults(arguments) == {"note": case["note_value"]}


@pytest.mark.requirement("CALL-2")
@pytest.mark.parametrize("form", ["arguments_raw", "nested"])
def test_a_key_that_comes_twice_is_refused_at_any_depth(trouble_case: TroubleCase, form: str) -> None:
    refused = parse_arguments(trouble_case("ARG-03")["input"][form])
    assert isinstance(refused, Unparsed)
    assert "twice" in refused.reason
    assert not refused.not_an_object


@pytest.mark.requirement("CALL-3", "CALL-7")
def test_an_integer_past_the_doubles_is_the_same_from_text_to_bytes(trouble_case: TroubleCase) -> None:
    case = trouble_case("ARG-04")["input"]
    for raw in (case["arguments_raw"], *(f'{{"id": {number}}}' for number in case["also"])):
        parsed = parse_arguments(raw)
        assert isinstance(parsed, dict)
        assert compile_schema(case["schema"]).is_valid(parsed)
        value = integral(parsed)
        assert canonical(value) == raw.replace(" ", "").encode()
        assert decode(canonical(value)) == parsed


@pytest.mark.requirement("CALL-2")
def test_arguments_that_were_cut_off_are_never_closed_for_the_model(trouble_case: TroubleCase) -> None:
    for raw in trouble_case("ARG-07")["input"]["arguments_variants"]:
        refused = parse_arguments(raw)
        assert isinstance(refused, Unparsed)
        assert not refused.not_an_object
