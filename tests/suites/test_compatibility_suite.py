"""The schemas of the official suite, each compared with others of its kind: verdicts hold on the suite's own values."""

import json
import os
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from interlock.core.compatibility import Direction, Verdict, compare_schemas
from interlock.core.compatibility_schemas import worst
from interlock.core.compatibility_side import Side
from interlock.core.errors import SchemaInvalid
from tests.unit.core.compatibility_cases import check_witnesses

SUITES = Path(os.environ.get("INTERLOCK_SUITES") or Path(__file__).resolve().parents[3] / "shared")
CASES = SUITES / "json-schema-test-suite" / "tests" / "draft2020-12"
pytestmark = [
    pytest.mark.requirement("REG-5"),
    pytest.mark.skipif(
        not CASES.is_dir(), reason=f"INTERLOCK_SUITES names no folder with json-schema-test-suite ({SUITES})."
    ),
]


def test_verdicts_on_a_few_schemas_of_each_keyword_hold_on_the_values_of_the_suite() -> None:
    check(schemas_max=2)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_verdicts_on_the_schemas_of_each_keyword_hold_on_the_values_of_the_suite() -> None:
    check(schemas_max=14)


def check(*, schemas_max: int) -> None:
    verdicts: Counter[Verdict] = Counter()
    wrong: list[str] = []
    for file in sorted(CASES.glob("*.json")):
        groups = json.loads(file.read_text("utf-8"))
        values = [test["data"] for group in groups for test in group["tests"]]
        sides = compiled(groups)[:schemas_max]
        for old, new in product(sides, sides):
            verdict = judged(old, new)
            verdicts[verdict] += 1
            if verdict is Verdict.COMPATIBLE:
                wrong += [f"{file.name}: {value}" for value in values if fits(new, value) and not fits(old, value)]
            elif old is new:
                wrong.append(f"{file.name}: {old.root} is not compatible with itself")
    assert wrong == [], verdicts
    assert verdicts[Verdict.UNCERTAIN] < verdicts.total() / 8, verdicts


def judged(old: Side, new: Side) -> Verdict:
    before, after = (each.root if isinstance(each.root, dict | bool) else {} for each in (old, new))
    found = compare_schemas(before, after, Direction.OUTPUT)
    check_witnesses(found, before, after, direction=Direction.OUTPUT)
    return worst(found)


def fits(side: Side, value: Any) -> bool:
    return side.compiled.is_valid(value)


def compiled(groups: list[dict[str, Any]]) -> list[Side]:
    found = []
    for group in groups:
        try:
            found.append(Side(group["schema"]))
        except SchemaInvalid:  # it refers to what is not here
            continue
    return found
