"""What is known of one version before it is moved on, in sentences of what is lacking."""

import pytest

from interlock.core.canonical import decode
from interlock.core.example import ExampleKind
from interlock.core.readiness import Readiness, Tally, readiness_from_json, readiness_to_bytes

WANTED = [ExampleKind.TYPICAL, ExampleKind.WRONG]


def ready(**changes: object) -> Readiness:
    plain: dict[str, object] = {
        "tool": "look",
        "version": "1",
        "digest": "d" * 64,
        "passed": {ExampleKind.TYPICAL: 2, ExampleKind.WRONG: 1},
        "at_us": 1,
    }
    return Readiness(**{**plain, **changes})  # type: ignore[arg-type]


def test_a_version_whose_examples_pass_lacks_nothing() -> None:
    assert ready().lacking(WANTED) == ()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"at_us": 0}, "no example of look 1 has run"),
        ({"passed": {ExampleKind.TYPICAL: 1}}, "no example of the kind wrong passes"),
        ({"failing": ("one",)}, "examples fail: one"),
        ({"selection": Tally(3, 1, 0)}, "selection cases: 1 failed, 0 due"),
        ({"risk": Tally(3, 0, 2)}, "risk cases: 0 failed, 2 due"),
        ({"probes": Tally(1, 1, 0)}, "probes: 1 failed"),
    ],
)
def test_what_is_lacking_is_said_in_words(changes: dict[str, object], says: str) -> None:
    assert says in "; ".join(ready(**changes).lacking(WANTED))


def test_stale_and_unreviewed_examples_do_not_count_and_do_not_fail() -> None:
    assert ready(stale=("old",), unreviewed=("foreign",)).lacking(WANTED) == ()
    assert ready(passed={}, stale=("old",)).lacking([ExampleKind.TYPICAL]) != ()


def test_it_comes_back_from_its_bytes_as_it_was() -> None:
    held = ready(failing=("a",), stale=("b",), selection=Tally(1, 2, 3))
    back = readiness_from_json(decode(readiness_to_bytes(held)))
    assert back == held
    assert back.lacking(WANTED) == held.lacking(WANTED)


def test_no_check_at_all_is_neither_held_nor_broken() -> None:
    assert not Tally().holds
    assert not Tally().breaks
    assert Tally(1).holds
    assert Tally(1, due=1).breaks


@pytest.mark.requirement("REG-8")
def test_what_passed_no_longer_counts_once_one_of_the_examples_has_expired() -> None:
    held = ready(until_us=100)
    assert held.lacking(WANTED, now_us=99) == ()
    assert "have expired since they ran" in held.lacking(WANTED, now_us=100)[0]
