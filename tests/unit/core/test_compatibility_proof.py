"""A proof follows a recursive schema by induction, and leaves a doubt wherever it cannot follow."""

import pytest

from interlock.core.canonical import Json
from interlock.core.compatibility_facts import Facts
from interlock.core.compatibility_proof import Proof, Spot, Step
from interlock.core.compatibility_rules import RULES
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, facts, opened, part

pytestmark = pytest.mark.requirement("REG-5")


def test_a_recursive_schema_is_proved_by_what_is_proved_of_its_parts() -> None:
    old = closed("name", name={"enum": ["a"]}, below={"type": "array", "items": {"$ref": "#"}})
    new = closed("name", name=TEXT, below={"type": "array", "items": {"$ref": "#"}})
    assert doubts(old, new) == []
    assert ("/name", "enum") in doubts(new, old)


def test_a_schema_that_leads_back_to_itself_at_once_proves_nothing() -> None:
    loop: dict[str, Json] = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, NUMBER]}}}
    assert doubts({"type": "string"}, loop) != []


def test_all_doubts_are_collected() -> None:
    found = doubts(closed(a=TEXT, b=TEXT), closed("a", a=NUMBER, b=NUMBER))
    assert sorted(found) == [("", "required"), ("/a", "type"), ("/b", "type")]


def test_choices_in_what_is_known_are_gone_through() -> None:
    assert doubts({"anyOf": [TEXT, {"type": "null"}]}, {"type": ["null", "string"]}) == []
    assert doubts({"type": ["null", "string"]}, {"anyOf": [TEXT, {"type": "null"}]}) == []
    chosen = {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "integer"}}
    assert doubts(chosen, {"type": ["string", "integer"]}) == []


def test_a_try_leaves_no_doubts() -> None:
    proof = Proof(RULES)
    assert not proof.tries(facts({"type": "string"}), part({"type": "integer"}), Spot())
    assert proof.doubts == []


def test_what_excludes_what_is_seen_through_choices_and_exclusions() -> None:
    proof = Proof(RULES)
    assert proof.excludes(facts({"type": "string"}), part({"anyOf": [NUMBER, {"type": "null"}]}), Spot())
    assert proof.excludes(facts({"not": {"minimum": 3}}), part({"type": "integer", "minimum": 5}), Spot())
    assert not proof.excludes(facts({"type": "string"}), part({"minLength": 3}), Spot())


def test_a_place_knows_whether_anything_was_said_of_it() -> None:
    silent, spoken = (Step(facts(each), part({}), "b") for each in (opened(a=TEXT), closed(a=TEXT)))
    assert Spot().down(silent).is_undeclared
    assert Spot().down(silent).down(spoken).is_undeclared
    assert not Spot().down(spoken).is_undeclared
    assert Spot().down(Step(facts({}), part({}), "a/b")).path == "/a~1b"


def doubts(old: dict[str, Json], new: dict[str, Json]) -> list[tuple[str, str]]:
    proof = Proof(RULES)
    source = part(old)
    holds = proof.holds(Facts([source]), part(new), Spot())
    assert holds == (not proof.doubts)
    return [(each.spot.path, each.word) for each in proof.doubts]
