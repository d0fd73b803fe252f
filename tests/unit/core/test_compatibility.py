"""Two versions of a tool are compared whole, the worst first, and told in a line."""

import pytest

from interlock.core.canonical import Json
from interlock.core.compatibility import Verdict, compare, told
from interlock.core.effect import Effect
from interlock.core.tool import Document, Parameter, ParameterSource, ToolSpec, spec_digest
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, spec

pytestmark = pytest.mark.requirement("REG-5")


def test_a_version_that_changes_nothing_but_its_words_is_compatible() -> None:
    old, new = spec(), spec(version="1.0.1", description="Saves a note.")
    found = compare(old, new)
    assert (found.verdict, [each.kind for each in found.findings]) == (Verdict.COMPATIBLE, ["text"])
    assert (found.old_version, found.new_version, found.is_promised) == ("1.0.0", "1.0.1", True)
    assert (found.old_digest, found.new_digest) == (spec_digest(old), spec_digest(new))


def test_a_schema_in_other_words_that_takes_the_same_is_told_as_text() -> None:
    worded = closed("note", note={**TEXT, "description": "Its name."}, text=TEXT) if isinstance(TEXT, dict) else {}
    found = compare(spec(), spec(schema=worded))
    assert [(each.part, each.kind, each.verdict) for each in found.findings] == [("input", "text", Verdict.COMPATIBLE)]


def test_the_worst_finding_is_the_verdict_and_comes_first() -> None:
    new = spec(version="1.1.0", schema=closed("note", "by", note=TEXT, text=TEXT, by=TEXT), effect=Effect.DESTRUCTIVE)
    found = compare(spec(), new)
    assert found.verdict is Verdict.BREAKING
    assert [each.verdict for each in found.findings] == sorted(
        (each.verdict for each in found.findings), key=RANK.index
    )
    assert found.breaks_its_promise
    assert not compare(spec(), spec(version="2.0.0", effect=Effect.DESTRUCTIVE)).breaks_its_promise


def test_a_line_tells_what_breaks_and_shows_it() -> None:
    found = compare(spec(), spec(schema=closed("note", "by", note=TEXT, text=TEXT, by=TEXT)))
    assert told(found).startswith("input: At the value: it now demands by. (such as {")
    many = spec(schema=closed(**{f"m{at}": TEXT for at in range(12)}))
    assert "And " in told(compare(many, spec(schema=closed(**{f"m{at}": NUMBER for at in range(12)}))))


def test_a_parameter_that_the_context_fills_in_is_none_of_the_callers_business() -> None:
    by = Parameter("by", source=ParameterSource.CONTEXT, inject="principal")
    new = spec(schema=closed("note", "by", note=TEXT, text=TEXT, by=TEXT), parameters=(by,))
    assert compare(spec(), new).verdict is Verdict.COMPATIBLE


def test_results_are_compared_the_other_way_round() -> None:
    plain = spec()
    stated, more = (plain_with(closed("id", id=TEXT)), plain_with(closed("id", id=TEXT, at=TEXT)))
    assert compare(plain, stated).verdict is Verdict.COMPATIBLE
    assert compare(stated, plain).verdict is Verdict.BREAKING
    assert [each.path for each in compare(stated, more).findings if each.verdict is Verdict.BREAKING] == ["/at"]
    assert compare(stated, plain_with({**closed("id", id=TEXT), "title": "T"})).verdict is Verdict.COMPATIBLE


def plain_with(output: dict[str, Json]) -> ToolSpec:
    return spec(output_schema=Document.of(output))


RANK = (Verdict.BREAKING, Verdict.UNCERTAIN, Verdict.COMPATIBLE)
