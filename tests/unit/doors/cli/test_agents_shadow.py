"""What a shadow has shown is told with counts, times, the calls that tell something, and a proposal."""

from interlock.core.shadow import Output, Sample, Tally, added, proposed, tally_of
from interlock.doors.cli.agents_shadow import report_document, report_text
from interlock.runtime.shadows import ShadowReport


def report(*samples: Sample) -> ShadowReport:
    tally = Tally()
    for each in samples:
        tally = added(tally, tally_of(each))
    return ShadowReport("clerk", "search", "2", tally, proposed(tally, compares=True))


def test_counts_times_and_calls_are_told() -> None:
    found = report(
        Sample("c1", 1_000_000, output=Output.EQUAL, old_ms=3, new_ms=40),
        Sample("c2\x1b", 2_000_000, new="PERMISSION_DENIED"),
        Sample("c3", 3_000_000, why="it reaches outside"),
    )
    text = report_text(found)
    for part in (
        "3, from 1970",
        "PERMISSION_DENIED 1",
        "equal 1",
        "it reaches outside 1",
        "do not promote it",
        "50 ms",
    ):
        assert part in text
    assert "\x1b" not in text
    document = report_document(found)
    assert document["latency_ms"] == {"old_p50": 5, "old_p95": 5, "new_p50": 50, "new_p95": 50}
    assert document["proposal"] == {"promote": False, "reason": found.proposal.reason}


def test_nothing_is_told_of_nothing() -> None:
    assert "go on trying it" in report_text(report())
