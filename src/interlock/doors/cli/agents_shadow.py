"""How what a shadow has shown is told on the command line, and as a document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.core.shadow import percentile
from interlock.core.tool import spec_to_json
from interlock.doors.cli.shown import fields, moment, rows, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.core.canonical import Json
    from interlock.core.shadow import Tally
    from interlock.runtime.shadows import ShadowReport

SAYS = {True: "promote it", False: "do not promote it", None: "go on trying it"}


def report_document(found: ShadowReport) -> dict[str, Json]:
    """A report for programs: the counts, the samples that tell something, and the proposal."""
    return {
        "agent": found.agent,
        "tool": found.tool,
        "version": found.version,
        "proposal": {"promote": found.proposal.promote, "reason": found.proposal.reason},
        "latency_ms": _latency(found.tally),
        "tally": spec_to_json(found.tally),
    }


def report_text(found: ShadowReport) -> str:
    """The same for people."""
    tally, times = found.tally, _latency(found.tally)
    head = fields(
        [
            ("Shadow", f"{found.tool} {found.version} in the agent {found.agent}"),
            ("Calls", f"{tally.calls}{_span(tally)}"),
            ("Not tried", tally.missed or ""),
            ("Would refuse", _counts(tally.refused)),
            ("Would let pass", tally.freed or ""),
            ("Would ask", tally.asks or ""),
            ("Reads in both", _counts(tally.outputs)),
            ("Not run", _counts(tally.why)),
            ("In use", f"half within {times['old_p50']} ms, 95 of 100 within {times['old_p95']} ms"),
            ("Shadow takes", f"half within {times['new_p50']} ms, 95 of 100 within {times['new_p95']} ms"),
            ("Proposal", f"{SAYS[found.proposal.promote]}: {found.proposal.reason}"),
        ]
    )
    values = [
        (each.call, moment(each.at_us), each.old or "ok", each.new or "ok", each.output.value, each.why)
        for each in tally.samples
    ]
    if not values:
        return head
    return f"{head}\n{rows(('Call', 'At', 'In use', 'Shadow', 'Output', 'Why'), values, empty='')}"


def _span(tally: Tally) -> str:
    return f", from {moment(tally.since_us)} to {moment(tally.until_us)}" if tally.calls else ""


def _latency(tally: Tally) -> dict[str, Json]:
    return {
        f"{which}_p{per_cent}": percentile(counts, per_cent)
        for which, counts in (("old", tally.old_ms), ("new", tally.new_ms))
        for per_cent in (50, 95)
    }


def _counts(counts: Mapping[str, int]) -> str:
    return visible([f"{name} {count}" for name, count in sorted(counts.items()) if count])
