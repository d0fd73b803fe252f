"""What is made to fit some parts mostly does, and lies near the edges that are hinted at."""

import pytest

from interlock.core.canonical import Json
from interlock.core.compatibility_texts import Dice
from interlock.core.compatibility_values import Maker, Unmade, hints_of, named_by
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, facts, opened, part

NOTE = closed(
    "name", "tags",
    name={"type": "string", "pattern": "^[a-z]{2,5}$"},
    tags={"type": "array", "items": TEXT, "minItems": 1, "uniqueItems": True},
    size={"type": "number", "exclusiveMinimum": 0, "maximum": 9, "multipleOf": 0.5},
    kind={"oneOf": [closed("k", k={"const": "x"}), closed("k", "v", k={"const": "y"}, v=NUMBER)]},
    due={"type": "string", "format": "date"},
)  # fmt: skip


def test_what_is_made_mostly_fits() -> None:
    known = facts(NOTE)
    made = [Maker(Dice(seed), share=seed % 5).make(known) for seed in range(100)]
    assert sum(known.parts[0].fits(each) for each in made) > 90
    assert len({str(each) for each in made}) > 60


def test_hints_lead_to_the_edges_of_another_schema() -> None:
    hints = hints_of(part(closed(a={"type": "string", "maxLength": 7}, b={"enum": ["open"]}, c={"minimum": 40})))
    texts = {Maker(Dice(seed), hints).make(facts({"type": "string"})) for seed in range(60)}
    assert {len(str(each)) for each in texts} >= {6, 7, 8}
    assert "open" in texts
    assert 39 in {Maker(Dice(seed), hints).make(facts({"type": "integer"})) for seed in range(120)}


def test_a_container_holds_what_it_is_given() -> None:
    maker = Maker(Dice(3))
    whole = maker.holding(facts(opened("b", a=TEXT, b=NUMBER)), "a", "mine")
    assert isinstance(whole, dict)
    assert (whole["a"], isinstance(whole["b"], int)) == ("mine", True)
    held: Json = maker.holding(facts({"type": "array", "items": TEXT}), 2, "mine")
    assert isinstance(held, list)
    assert held[2] == "mine"


def test_what_nothing_fits_is_not_made() -> None:
    with pytest.raises(Unmade):
        Maker(Dice(1)).make(facts({"enum": []}, {"type": "string"}))
    with pytest.raises(Unmade):
        Maker(Dice(1)).make(facts(closed("a", a={"type": "string", "pattern": "(?i)^x", "maxLength": 0})))


def test_a_name_that_nobody_named_is_found() -> None:
    assert named_by("^x-[a-z]+$", Dice(1), frozenset({"x-a"})) not in (None, "x-a")
    assert named_by("(?=x)", Dice(1), frozenset()) is None
