"""Random edits of random schemas: whatever is called compatible holds, whatever is called breaking is shown.

The samples come from two sources: values that one schema describes, made by code that knows nothing of the proof, with
some parts gone astray; and values near the edges where the other schema may judge otherwise.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from interlock.core.canonical import Json
from interlock.core.compatibility import Direction, Verdict, compare_schemas
from interlock.core.compatibility_facts import Facts
from interlock.core.compatibility_schemas import accepts, worst
from interlock.core.compatibility_side import Part, Side
from interlock.core.compatibility_texts import Dice
from interlock.core.compatibility_values import Maker, Unmade, hints_of
from interlock.core.errors import SchemaInvalid
from tests.unit.core.compatibility_cases import INPUT, check_witnesses
from tests.unit.core.schema_edits import Schema, edited, schema
from tests.unit.models.schema_samples import Samples

pytestmark = pytest.mark.requirement("REG-5")

UNCERTAIN_MAX = 0.05
TRIES = 20
"""Of so many values that are tried at least one is expected to be an instance."""


def test_a_few_edits_are_judged_rightly() -> None:
    check(Fuzz(range(6), samples=300))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_many_edits_are_judged_rightly() -> None:
    check(Fuzz(range(10_000, 10_700), samples=200))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_many_edits_of_one_schema_at_once_are_judged_rightly() -> None:
    check(Fuzz(range(30_000, 30_200), samples=200, edits=3))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_called_compatible_holds_against_ten_thousand_instances_each() -> None:
    fuzz = Fuzz(range(20_000, 20_016), samples=10_000)
    check(fuzz)
    assert fuzz.sampled == 10_000 * (fuzz.verdicts[Verdict.COMPATIBLE] - fuzz.empty)
    assert fuzz.empty <= 1


class Fuzz:
    """The verdicts on `edits` of a schema for each seed, both ways round, and what is wrong with them.

    `samples`: against so many instances of the narrower schema each verdict `compatible` is held. `empty` counts those
    of which there is no instance.
    """

    def __init__(self, seeds: range, *, samples: int, edits: int = 1) -> None:
        self.verdicts: Counter[Verdict] = Counter()
        self.sampled = 0
        self.empty = 0
        self.wrong: list[str] = []
        self._samples = samples
        for seed in seeds:
            dice = Random(seed)
            old = schema(dice)
            new = old
            for _ in range(edits):
                new = edited(new, dice)
            for direction in Direction:
                self._judge(old, new, direction, seed=seed)

    def _judge(self, old: Schema, new: Schema, direction: Direction, *, seed: int) -> None:
        try:
            found = compare_schemas(old, new, direction)
        except SchemaInvalid:  # such as a default that its own schema refuses
            return
        verdict = worst(found)
        self.verdicts[verdict] += 1
        check_witnesses(found, old, new, direction=direction)
        if verdict is Verdict.COMPATIBLE:
            narrow, wide = (Side(old), Side(new)) if direction is INPUT else (Side(new), Side(old))
            values = sampled(narrow, wide, Random(seed), count=TRIES * self._samples)
            instances = (value for value in values if accepts(narrow, direction, value))
            taken = list(islice(instances, self._samples))
            self.sampled += len(taken)
            self.empty += not taken
            refused = [value for value in taken if not accepts(wide, direction, value)]
            self.wrong += [f"{direction} of {seed} is not compatible: {value}" for value in refused[:1]]


def check(fuzz: Fuzz) -> None:
    total = fuzz.verdicts.total()
    share = fuzz.verdicts[Verdict.UNCERTAIN] / total
    told = f"{dict(fuzz.verdicts)}, {share:.1%} uncertain, {fuzz.sampled} samples held"
    assert fuzz.wrong == [], told
    assert share <= UNCERTAIN_MAX, told
    assert fuzz.verdicts[Verdict.BREAKING] > total / 5, told
    assert fuzz.verdicts[Verdict.COMPATIBLE] > total / 5, told
    assert fuzz.sampled > 10 * total, told


def sampled(narrow: Side, wide: Side, dice: Random, *, count: int) -> Iterator[Json]:
    """Values that the narrow schema may take, a quarter of them such as the wide one describes."""
    near, far = (Samples(members(side), dice, astray=0.03) for side in (narrow, wide))
    hints = hints_of(Part(wide.root, wide), Part(narrow.root, narrow))
    facts = Facts([Part(narrow.root, narrow)])
    for index in range(count):
        if index % 4 < 2:
            yield near.one() if index % 4 else far.one()
            continue
        try:
            yield Maker(Dice(dice.getrandbits(60)), hints, share=index % 5).make(facts)
        except Unmade:
            continue


def members(side: Side) -> Schema:
    assert isinstance(side.root, dict)
    return side.root
