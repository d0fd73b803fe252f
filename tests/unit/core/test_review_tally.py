"""A log counts to the same numbers in whatever parts it is read, and to as many proposals as were made."""

from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.journal import AuditRecord, EventKind
from interlock.core.review_counts import summed
from interlock.core.review_read import UNKNOWN
from interlock.core.review_tally import NAMES_KEPT
from tests.unit.core.review_cases import (
    call,
    invented,
    others,
    proposals,
    record,
    refused,
    settled,
    tallied,
    tally_of,
)

Told = list[tuple[AuditRecord, ...]]
FIND = ("find", "1")


@pytest.mark.requirement("REG-11")
@given(st.lists(st.one_of(proposals(), others()), max_size=40), st.integers(2, 5), st.randoms(use_true_random=False))
def test_any_parts_of_a_log_in_any_order_come_to_what_the_whole_does(told: Told, parts: int, random: Any) -> None:
    log = [*chain.from_iterable(told)]
    whole = tallied(log)
    random.shuffle(log)
    first, *rest = [tally_of(log[number::parts]) for number in range(parts)]
    for each in rest:
        first.join(each)
    assert first.tallies(detour_times=1, detours_max=100) == whole


@pytest.mark.requirement("REG-11")
@given(st.lists(proposals(), max_size=40), st.lists(others(), max_size=20))
def test_the_counts_of_all_tools_add_up_to_the_number_of_proposals(made: Told, beside: Told) -> None:
    whole = summed(tuple(tallied(chain.from_iterable([*made, *beside])).tools.values()))
    assert whole.counts.proposals == len(made)
    ended = sum(each[-1].kind == EventKind.SETTLED for each in made)
    assert whole.counts.ended - whole.counts.let_go - closed_as_lost(beside) == ended


def closed_as_lost(told: Told) -> int:
    lost = tallied(chain.from_iterable(told)).tools.values()
    return sum(each.counts.lost for each in lost)


@pytest.mark.requirement("REG-11")
def test_a_call_that_came_back_with_an_approval_is_one_proposal() -> None:
    back = {"approval": "a1", "effect": "write"}
    asked = call(EventKind.WAITING, **back)
    for ending in (call(EventKind.CLAIMED, **back), refused("TOOL_FROZEN", **back)):
        numbers = tallied([asked, ending]).tools[FIND]
        assert (numbers.counts.proposals, numbers.counts.came_back) == (1, 1)


@pytest.mark.requirement("REG-11")
def test_an_execution_counts_with_what_it_took_and_what_became_of_it() -> None:
    note = {"effect": "write", "resource": "Note/7", "approval": "a"}
    found = tallied(
        [
            settled(working_ms=100, attempts=3, cost_micros=5, tokens=7),
            settled(status="failed", code="TOOL_TIMEOUT"),
            settled(result=[], evidence=None),
            settled(**note),
        ]
    ).tools[FIND]
    counts = found.counts
    assert (counts.succeeded, counts.failed, found.timeouts) == (3, 1, 1)
    assert (counts.retried, counts.retries, counts.cost_micros, counts.tokens) == (1, 2, 5, 7)
    assert (counts.empty, counts.without_evidence, counts.effects, found.effects) == (1, 1, 1, {"Note": 1})


@pytest.mark.requirement("REG-11")
def test_what_is_not_known_is_counted_as_unknown_and_not_as_nothing() -> None:
    old = call(EventKind.SETTLED, status="ok")  # from before records said what a result is evidence of, or what it took
    found = tallied([old, call(EventKind.REFUSED, kept=False), record(EventKind.APPROVAL_VOTED, state="granted")])
    numbers = found.tools[FIND]
    assert (numbers.counts.unmeasured, numbers.counts.evidence_unknown, numbers.working) == (1, 1, {})
    assert (found.unread, found.unplaced) == (1, 1)
    assert found.tools[UNKNOWN].counts.granted == 1


@pytest.mark.requirement("REG-11")
def test_people_count_by_what_they_did_and_how_long_they_took() -> None:
    tool = {"tool": "find", "version": "1"}
    voted = {"kind": EventKind.APPROVAL_VOTED, "asked_at_us": 0, "at_us": 60_000_000, **tool}
    found = tallied(
        [
            record(state="granted", **voted),
            record(state="pending", **voted),
            record(state="denied", **voted),
            record(EventKind.APPROVAL_EXPIRED, **tool),
            record(EventKind.APPROVAL_VOID, note="edited", **tool),
            record(EventKind.CLOSED, closer="person", status="ok", **tool),
            record(EventKind.CLOSED, closer="nobody", status="unknown", **tool),
            record(EventKind.RUN_TOLD, subject="r1", what="cancel"),
            record(EventKind.RUN_TOLD, subject="r1", what="say"),
        ]
    )
    counts = found.tools[FIND].counts
    assert (counts.granted, counts.declined, counts.expired, counts.edited, counts.voided) == (1, 1, 1, 1, 0)
    assert (counts.closed_by_person, counts.found_done, counts.lost) == (1, 1, 1)
    assert sum(found.tools[FIND].deciding.values()) == 2
    assert found.people == {"cancel": 1, "hand_over": 0, "pause": 0}


@pytest.mark.requirement("REG-11")
def test_fields_that_are_missing_count_where_they_were_to_be_expected() -> None:
    found = tallied([settled(run="r1", agent="a"), settled(), settled(effect="write", approval="x")])
    counts = found.tools[FIND].counts
    assert (counts.without_agent, counts.without_model, counts.without_trace, counts.without_task) == (0, 1, 1, 0)
    assert tallied([call(EventKind.CLAIMED, effect="write")]).tools[FIND].counts.without_task == 1


@pytest.mark.requirement("REG-11")
def test_names_that_no_tool_has_and_searches_that_find_nothing_are_gaps() -> None:
    search = {"tool": "search_tools", "arguments": {"query": "send a fax"}, "at_us": 9}
    searches = [settled(result={"tools": []}, **search), settled(result=[1], **search)]
    found = tallied([invented("fax"), invented("fax", at_us=5), *searches], search="search_tools")
    assert [(each.text, each.times, each.last_us) for each in found.invented] == [("fax", 2, 5)]
    assert [(each.text, each.times) for each in found.unfound] == [("send a fax", 1)]


@pytest.mark.requirement("REG-11")
def test_memory_does_not_grow_with_names_that_somebody_makes_up() -> None:
    found = tallied(invented(f"name {number}", run=f"r{number}") for number in range(3 * NAMES_KEPT))
    assert len(found.invented) == NAMES_KEPT
    assert (found.names, len(found.tools)) == (3 * NAMES_KEPT, 1)
    assert found.runs_followed <= 1_024 < found.runs


def test_an_external_read_was_claimed_on_record_and_counts_once() -> None:
    log = [call(EventKind.CLAIMED, external=True), settled(external=True)]
    assert tallied(log).tools[FIND].counts.proposals == 1


def test_versions_are_known_by_when_they_were_published_first() -> None:
    published = {"kind": EventKind.TOOL_REGISTERED, "tools": [{"name": "find", "version": "1"}, "spoilt"]}
    assert tallied([record(at_us=9, **published), record(at_us=3, **published)]).published == {FIND: 3}
