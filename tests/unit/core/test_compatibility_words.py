"""A difference is told in a sentence that names its place and what is asked there."""

import pytest

from interlock.core.compatibility import compare_schemas
from tests.unit.core.compatibility_cases import INPUT, OUTPUT, TEXT, closed, of

pytestmark = pytest.mark.requirement("REG-5")


def test_a_sentence_says_where_and_what() -> None:
    found = compare_schemas(of(type="string"), of(type="string", maxLength=5), INPUT)
    assert found[0].reason == "At a: it now takes only what has maxLength 5."
    found = compare_schemas(of(type="string", maxLength=5), of(type="string"), OUTPUT)
    assert found[0].reason == "At a: it used to give only what has maxLength 5."


def test_members_are_named() -> None:
    assert compare_schemas(closed(a=TEXT), closed("a", a=TEXT), INPUT)[0].reason == "At the value: it now demands a."
    found = compare_schemas(closed("a", a=TEXT), closed(a=TEXT), OUTPUT)
    assert found[0].reason == "At the value: it no longer promises a."


def test_a_suspicion_says_that_it_is_one() -> None:
    found = compare_schemas(of(type="string", pattern="^(a|b)$"), of(type="string", pattern="^[ab]$"), INPUT)
    assert found[0].reason.endswith("No value was found that shows a difference, and no proof of none.")
