"""What the results of examples say of the version that they are of."""

from datetime import UTC, datetime

from interlock.core.example import ExampleKind
from interlock.core.example_results import Checks, Passing, Rehearsed, checks_of, readiness_of
from interlock.core.readiness import Tally
from interlock.core.selection import CaseKind
from interlock.core.tool import spec_digest
from tests.library import example, spec

RESULTS = [
    Rehearsed(example(name="good"), Passing.PASSED),
    Rehearsed(example(name="better"), Passing.PASSED),
    Rehearsed(example(name="bad", kind=ExampleKind.WRONG), Passing.FAILED, "why"),
    Rehearsed(example(name="never", kind=ExampleKind.WRONG), Passing.REFUSED, "why"),
    Rehearsed(example(name="old", kind=ExampleKind.TIMEOUT), Passing.STALE, "why"),
    Rehearsed(example(name="foreign", kind=ExampleKind.REPLAY), Passing.UNREVIEWED, "why"),
    Rehearsed(example(name="else", tool="other", kind=ExampleKind.APPROVAL), Passing.PASSED),
]


def test_only_what_passed_counts_and_what_is_wrong_is_named() -> None:
    found = readiness_of(spec(), RESULTS, at_us=7)
    assert found.passed == {ExampleKind.TYPICAL: 2}
    assert (found.failing, found.stale, found.unreviewed) == (("bad", "never"), ("old",), ("foreign",))
    assert (found.digest, found.at_us) == (spec_digest(spec()), 7)


def test_a_tool_without_examples_was_never_tried() -> None:
    assert not readiness_of(spec(name="lonely"), RESULTS, at_us=7).is_tried


def test_the_checks_of_its_words_are_those_of_its_own_cases() -> None:
    tallies = {("look", CaseKind.SELECTION): Tally(2), ("other", CaseKind.RISK): Tally(0, 1)}
    assert checks_of(tallies, "look") == Checks(Tally(2), Tally())
    assert checks_of(tallies, "other") == Checks(Tally(), Tally(0, 1))


def test_it_holds_until_the_first_example_that_passed_expires() -> None:
    ends = ["2027-06-30", "2027-01-31", ""]
    results = [Rehearsed(example(name=each or "never", expires=each), Passing.PASSED) for each in ends]
    results.append(Rehearsed(example(name="failed", expires="2026-12-31"), Passing.FAILED))
    found = readiness_of(spec(), results, at_us=1)
    assert datetime.fromtimestamp(found.until_us / 1_000_000, UTC).isoformat() == "2027-02-01T00:00:00+00:00"
    assert readiness_of(spec(), results[2:], at_us=1).until_us == 0
