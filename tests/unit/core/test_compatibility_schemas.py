"""Two schemas are compared both ways round; what breaks is shown by a value, what is not sure is said to be."""

from typing import Any

import pytest

from interlock.core.compatibility import Direction, Verdict, compare_schemas
from interlock.core.compatibility_schemas import accepts
from interlock.core.compatibility_side import Side
from interlock.core.errors import SchemaInvalid
from tests.unit.core.compatibility_cases import INPUT, NUMBER, OUTPUT, TEXT, closed, judged, of, opened

pytestmark = pytest.mark.requirement("REG-5")

MAYBE = {"anyOf": [TEXT, {"type": "null"}]}
TREE: dict[str, Any] = {
    "$ref": "#/$defs/node",
    "type": "object",
    "$defs": {"node": closed("name", name=TEXT, below={"type": "array", "items": {"$ref": "#/$defs/node"}})},
}
DEEPER = {**TREE, "$defs": {"node": closed("name", name=MAYBE, below=TREE["$defs"]["node"]["properties"]["below"])}}

# old, new, then place and class of what breaks for callers and for those who read results; None: nothing does.
CASES: dict[str, tuple[Any, Any, tuple[str, str] | None, tuple[str, str] | None]] = {
    "the same": (of(type="string"), of(type="string"), None, None),
    "other words": (of(type="string"), of(type="string", description="A name."), None, None),
    "a member that may be given": (closed(a=TEXT), closed(a=TEXT, b=NUMBER), None, ("/b", "member-added")),
    "a member that must be given": (
        closed(a=TEXT), closed("b", a=TEXT, b=NUMBER), ("", "required-added"), ("/b", "member-added"),
    ),
    "a member that must no longer be given": (closed("a", a=TEXT), closed(a=TEXT), None, ("", "required-dropped")),
    "a member that is refused": (closed(a=TEXT, b=TEXT), closed(a=TEXT), ("/b", "member-refused"), None),
    "a default for what must be given": (
        closed(a=TEXT), closed("b", a=TEXT, b={"type": "integer", "default": 3}), None, ("/b", "member-added"),
    ),
    "the default of what must be given is gone": (
        closed("a", a={"type": "string", "default": "x"}), closed("a", a=TEXT), ("", "required-added"), None,
    ),
    "another type": (of(type="string"), of(type="integer"), ("/a", "type-changed"), ("/a", "type-changed")),
    "a wider type": (of(type="integer"), of(type="number"), None, ("/a", "type-changed")),
    "null as well": (of(type="string"), of(type=["string", "null"]), None, ("/a", "type-changed")),
    "null spelled as an alternative": (of(type=["string", "null"]), closed(a=MAYBE), None, None),
    "fewer values": (of(enum=["x", "y"]), of(enum=["x"]), ("/a", "enum-narrowed"), None),
    "values in another order": (of(enum=["x", "y"]), of(enum=["y", "x"]), None, None),
    "one value spelled as a constant": (of(enum=["x"]), of(const="x"), None, None),
    "values for a free text": (of(type="string"), of(enum=["x"]), ("/a", "enum-narrowed"), None),
    "a lower maximum": (of(type="integer", maximum=9), of(type="integer", maximum=5), ("/a", "bound-tightened"), None),
    "an exclusive bound of integers": (
        of(type="integer", minimum=1), of(type="integer", exclusiveMinimum=0), None, None,
    ),
    "an exclusive bound of numbers": (
        of(type="number", minimum=1), of(type="number", exclusiveMinimum=1), ("/a", "bound-tightened"), None,
    ),
    "a shorter text": (of(type="string", maxLength=9), of(type="string", maxLength=5), ("/a", "bound-tightened"), None),
    "a text that is not empty": (of(type="string"), of(type="string", minLength=1), ("/a", "bound-tightened"), None),
    "multiples": (of(type="integer", multipleOf=4), of(type="integer", multipleOf=2), None, ("/a", "bound-tightened")),
    "a pattern": (of(type="string"), of(type="string", pattern="^[a-z]+$"), ("/a", "pattern-changed"), None),
    "another pattern": (
        of(type="string", pattern="^[a-z]+$"),
        of(type="string", pattern="^[0-9]+$"),
        ("/a", "pattern-changed"),
        ("/a", "pattern-changed"),
    ),
    "a shorter text of a pattern": (
        of(type="string", pattern="^[a-z]{1,40}$", maxLength=40),
        of(type="string", pattern="^[a-z]{1,40}$", maxLength=8),
        ("/a", "bound-tightened"), None,
    ),
    "a text of a pattern that is bounded": (
        of(type="string", pattern="^[a-z]+-[0-9]+$"), of(type="string", pattern="^[a-z]+-[0-9]+$", maxLength=200),
        ("/a", "bound-tightened"), None,
    ),
    "a format": (of(type="string"), of(type="string", format="date"), ("/a", "format-added"), None),
    "a format that nobody knows": (of(type="string"), of(type="string", format="colour"), None, None),
    "items of a list": (
        of(type="array", items=closed(x=TEXT)), of(type="array", items=closed(x=MAYBE)), None,
        ("/a/0/x", "type-changed"),
    ),
    "a longer list": (of(type="array", maxItems=2), of(type="array", maxItems=3), None, ("/a", "bound-loosened")),
    "a list without repetitions": (
        of(type="array", items=TEXT), of(type="array", items=TEXT, uniqueItems=True), ("/a", "narrowed"), None,
    ),
    "a pair with a third": (
        of(type="array", prefixItems=[TEXT, NUMBER], items=False), of(type="array", prefixItems=[TEXT, NUMBER]),
        None, ("/a/2", "member-added"),
    ),
    "an alternative less": (closed(a=MAYBE), closed(a=TEXT), ("/a", "type-changed"), None),
    "alternatives told apart by a member": (
        closed(a={"oneOf": [closed("k", k={"const": "x"}, v=TEXT), closed("k", k={"const": "y"}, v=TEXT)]}),
        closed(a={"oneOf": [closed("k", k={"const": "x"}, v=TEXT), closed("k", k={"const": "y"}, v=NUMBER)]}),
        ("/a/v", "type-changed"), ("/a/v", "type-changed"),
    ),
    "alternatives of which only one may hold": (
        of(anyOf=[{"minimum": 3}, {"type": "integer"}], type="number"),
        of(oneOf=[{"minimum": 3}, {"type": "integer"}], type="number"),
        ("/a", "alternatives-narrowed"), None,
    ),
    "an excluded value": (of(type="string"), {**of(type="string", **{"not": {"const": "root"}})},
                          ("/a", "condition-changed"), None),
    "a condition": (
        closed(a=TEXT, b=TEXT), {**closed(a=TEXT, b=TEXT), "if": {"required": ["a"]}, "then": {"required": ["b"]}},
        ("", "required-added"), None,
    ),
    "members that come together": (
        closed(a=TEXT, b=TEXT), {**closed(a=TEXT, b=TEXT), "dependentRequired": {"a": ["b"]}},
        ("", "condition-changed"), None,
    ),
    "a definition written out": (
        {**of(**{"$ref": "#/$defs/n"}), "$defs": {"n": TEXT}}, of(type="string"), None, None,
    ),
    "a recursive schema": (TREE, DEEPER, None, ("/name", "type-changed")),
    "a recursive schema as it was": (TREE, {**TREE, "title": "T"}, None, None),
    "names that match": (
        {**closed(), "patternProperties": {"^x-": TEXT}}, {**closed(), "patternProperties": {"^x-": NUMBER}},
        ("/*", "type-changed"), ("/*", "type-changed"),
    ),
    "free members of another type": (
        {"type": "object", "additionalProperties": TEXT}, {"type": "object", "additionalProperties": NUMBER},
        ("/*", "type-changed"), ("/*", "type-changed"),
    ),
    "an object that is closed": (opened(a=TEXT), closed(a=TEXT), ("/*", "member-refused"), None),
    "nothing that could be given": (
        of(type="string", maxLength=1, minLength=2), of(type="integer"), None, ("/a", "type-changed"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_breaks_is_named_and_shown(name: str) -> None:
    old, new, input_, output = CASES[name]
    for direction, expected in ((INPUT, input_), (OUTPUT, output)):
        verdict, told = judged(old, new, direction)
        assert verdict == ("compatible" if expected is None else "breaking"), told
        if expected is not None:
            assert (*expected, "breaking") in told or _loosened(expected) in told


def _loosened(expected: tuple[str, str]) -> tuple[str, str, str]:
    return expected[0], expected[1].replace("tightened", "loosened"), "breaking"


def test_a_member_that_an_open_object_now_names_is_uncertain_and_shown() -> None:
    verdict, told = judged(opened(a=TEXT), opened(a=TEXT, b=closed(c=TEXT)))
    assert (verdict, told) == ("uncertain", [("/b", "undeclared-narrowed", "uncertain")])
    found = compare_schemas(opened(a=TEXT), opened(a=TEXT, b=TEXT), INPUT)[0]
    assert found.witness is not None
    assert "depends on whether anybody used it" in found.reason


def test_what_was_said_of_other_members_is_held_to() -> None:
    stated = {**opened(a=TEXT), "additionalProperties": True}
    assert judged(stated, {**opened(a=TEXT, b=TEXT)})[0] == "breaking"


def test_a_suspicion_that_nothing_shows_is_uncertain() -> None:
    verdict, told = judged(of(type="string", pattern="^(a|b)$"), of(type="string", pattern="^[ab]$"))
    assert (verdict, told) == ("uncertain", [("/a", "pattern-changed", "uncertain")])


def test_a_reference_whose_meaning_depends_on_its_surroundings_is_uncertain() -> None:
    dynamic: dict[str, Any] = {"$dynamicAnchor": "n", **opened(a={"type": "array", "items": {"$dynamicRef": "#n"}})}
    assert judged(dynamic, dynamic)[0] == "compatible"
    assert judged(dynamic, {**dynamic, "title": "T"})[0] == "uncertain"


def test_defaults_beside_conditions_that_may_depend_on_them_are_uncertain() -> None:
    old = {**closed(a={"type": "string", "default": "x"}, b=TEXT), "maxProperties": 2}
    new = {**closed(a=TEXT, b=TEXT), "maxProperties": 2}
    assert judged(old, new) == ("uncertain", [("", "default-changed", "uncertain")])
    stricter = {**closed(a=TEXT, b={"type": "string", "default": "x"}), "maxProperties": 1}
    assert judged({**closed(a=TEXT, b=TEXT), "maxProperties": 1}, stricter)[0] == "breaking"


def test_what_became_wider_is_told_with_a_value_and_breaks_nobody() -> None:
    found = compare_schemas(of(type="integer"), of(type="number"), INPUT)
    assert [(each.path, each.kind, each.verdict) for each in found] == [("/a", "widened", Verdict.COMPATIBLE)]
    assert found[0].witness is not None
    assert not accepts(Side(of(type="integer")), Direction.INPUT, found[0].witness.value)


def test_older_drafts_are_read_as_their_validator_reads_them() -> None:
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    pair = {"type": "array", "items": [TEXT, NUMBER]}
    assert judged({**draft, **closed(a=pair)}, of(type="array", prefixItems=[TEXT, NUMBER]))[0] == "compatible"
    beside = {**draft, "$defs": {"n": TEXT}, **of(**{"$ref": "#/$defs/n", "maxLength": 3})}
    assert judged(beside, {**draft, "$defs": {"n": TEXT}, **of(**{"$ref": "#/$defs/n"})})[0] == "compatible"
    assert judged(of(type="string", maxLength=3), beside)[0] == "compatible"


def test_a_schema_that_is_none_is_refused() -> None:
    with pytest.raises(SchemaInvalid):
        compare_schemas({"type": "strnig"}, {}, INPUT)


def test_a_comparison_of_many_choices_ends() -> None:
    wide = {"anyOf": [closed(f"k{at}", **{f"k{at}": {"const": at}}) for at in range(12)]}
    old = closed(**{f"m{at}": wide for at in range(12)})
    new = closed(**{f"m{at}": {"anyOf": [*wide["anyOf"][1:], {"type": "null"}, {"const": at}]} for at in range(12)})
    assert judged(old, new)[0] == "breaking"
