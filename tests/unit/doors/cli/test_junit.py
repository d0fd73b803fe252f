"""Results as the XML that build servers read."""

from xml.etree import ElementTree

from interlock.core.example_check import Difference
from interlock.core.example_results import Passing, Rehearsed
from interlock.doors.cli.junit import report_of
from tests.library import example


def test_each_example_is_a_case_that_passed_failed_or_was_skipped() -> None:
    results = [
        Rehearsed(example(name='a "good" one'), Passing.PASSED),
        Rehearsed(example(name="<bad>\x1b"), Passing.FAILED, "<&>", (Difference("data", '"<a>"', "1"),)),
        Rehearsed(example(name="old"), Passing.STALE, "it expired"),
    ]
    suite = ElementTree.fromstring(report_of(results))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    good, bad, old = suite
    assert (good.get("classname"), good.get("name"), [*good]) == ("look", 'typical: a "good" one', [])
    assert (bad[0].tag, bad[0].get("message"), bad[0].text) == ("failure", "<&>", 'data: expected "<a>", got 1')
    assert (old[0].tag, old[0].get("message")) == ("skipped", "it expired")
