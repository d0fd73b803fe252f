"""A witness is a whole value that one side accepts and the other refuses, or there is none."""

import pytest

from interlock.core.canonical import Json
from interlock.core.compatibility_facts import Facts
from interlock.core.compatibility_proof import Proof, Spot
from interlock.core.compatibility_rules import RULES
from interlock.core.compatibility_values import hints_of
from interlock.core.compatibility_witness import Trial, stray, witness_of
from tests.unit.core.compatibility_cases import TEXT, closed, part

pytestmark = pytest.mark.requirement("REG-5")

DEEP = {"type": "array", "items": closed("b", b={"type": "object", "additionalProperties": TEXT})}
SHORT = {"type": "array", "items": closed("b", b={"type": "object", "additionalProperties": {"maxLength": 3}})}


def test_a_value_far_down_is_put_into_all_that_is_around_it() -> None:
    found = shown(closed("a", a=DEEP), closed("a", a=SHORT))
    assert found is not None


def test_what_both_accept_is_no_witness() -> None:
    assert shown({"type": "string", "pattern": "^(a|b)$"}, {"type": "string", "pattern": "^[ab]$"}) is None


def test_a_difference_is_found_without_a_doubt_too() -> None:
    old, new = part({"type": "integer"}), part({"type": "integer", "maximum": 40})
    found = stray(Facts([old]), Trial(old.fits, lambda each: not new.fits(each)), hints=hints_of(new), tries=60)
    assert found is not None
    assert stray(Facts([old]), Trial(old.fits, lambda each: not old.fits(each)), hints=hints_of(new), tries=9) is None


def shown(old: dict[str, Json], new: dict[str, Json]) -> tuple[Json] | None:
    narrow, wide = part(old), part(new)
    proof = Proof(RULES)
    assert not proof.holds(Facts([narrow]), wide, Spot())
    trial = Trial(narrow.fits, lambda each: not wide.fits(each))
    found = witness_of(proof.doubts[0], trial)
    assert found is None or (narrow.fits(found[0]) and not wide.fits(found[0]))
    return found
