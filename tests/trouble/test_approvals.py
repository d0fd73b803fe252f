"""Approvals that were given for one thing and used for another."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from interlock.core.approval import ApprovalEvent, ApprovalState, Vote, may_vote, tally
from interlock.core.call import Caller, Principal
from interlock.core.decision import Allow, Ask, Deny, decide
from interlock.core.effect import Effect
from interlock.core.redaction import NOTHING, Redactor
from interlock.core.refusals import Code
from interlock.core.summary import summarize
from interlock.core.tool import Document
from tests.unit.core.call_cases import ALICE, ASK, NOW_US, approval, facts, operation, tool

TroubleCase = Callable[[str], Mapping[str, Any]]
ANY = Document.of({"type": "object"})
PAY = tool("pay", input_schema=ANY, resource=None)


@pytest.mark.trouble
@pytest.mark.requirement("APR-2")
def test_arguments_rewritten_after_approval_are_not_what_was_approved(trouble_case: TroubleCase) -> None:
    """APR-01: a hook multiplied the amount after the approver had seen it."""
    shown = dict(trouble_case("APR-01")["input"]["model_args"])
    seen = operation(shown, of=PAY)
    grant = approval(seen)
    shown["to"] = "someone-else@example.test"
    assert isinstance(decide(seen, facts(seen, ASK, grant=grant)), Allow)
    assert seen.values["to"] == "a@example.test"
    rewritten = operation({**seen.values, "amount": 1000}, of=PAY)
    refused = decide(rewritten, facts(rewritten, ASK, grant=grant))
    assert isinstance(refused, Deny)
    assert refused.code is Code.APPROVAL_MISMATCH


@pytest.mark.trouble
@pytest.mark.requirement("APR-2")
def test_a_regenerated_call_of_the_same_id_does_not_use_the_approval(trouble_case: TroubleCase) -> None:
    """APR-02: on resume the model proposed another path, and the stored approval was used up by it."""
    proposals = [event for event in trouble_case("APR-02")["input"]["events"] if event.startswith("propose")]
    paths = [each.split("path:")[1].rstrip("}") for each in proposals]
    delete, other = (tool(name, Effect.DESTRUCTIVE, input_schema=ANY, resource=None) for name in ("delete", "wipe"))
    grant = approval(operation({"path": paths[0]}, of=delete))
    for of, path in ((delete, paths[1]), (other, paths[0])):
        again = operation({"path": path}, of=of)
        refused = decide(again, facts(again, ASK, grant=grant))
        assert isinstance(refused, Deny)
        assert refused.code is Code.APPROVAL_MISMATCH


@pytest.mark.trouble
@pytest.mark.requirement("APR-5")
def test_two_identical_calls_of_a_run_are_two_questions(trouble_case: TroubleCase) -> None:
    """APR-04: approvals of equal content were merged, and decisions paired by position."""
    calls = [each for each in trouble_case("APR-04")["input"]["calls"] if each["tool"] == "pay"]
    asked = [
        operation(call["args"], of=PAY, by=Caller(ALICE, run="r1", position=place)) for place, call in enumerate(calls)
    ]
    assert asked[0].digest == asked[1].digest
    assert asked[0].key != asked[1].key
    assert all(isinstance(decide(each, facts(each, ASK)), Ask) for each in asked)


@pytest.mark.trouble
@pytest.mark.requirement("APR-6")
def test_an_approval_ends_at_its_instant_and_not_a_moment_later(trouble_case: TroubleCase) -> None:
    """APR-06: skew with the wrong sign let expired approvals count."""
    case = trouble_case("APR-06")["input"]
    of = operation()
    grant = approval(of, asked_at_us=NOW_US, expires_at_us=NOW_US + case["ttl_s"] * 1_000_000)
    runs = [
        isinstance(decide(of, facts(of, ASK, grant=grant, as_of_us=NOW_US + at_s * 1_000_000)), Allow)
        for at_s in case["now_offsets_s"]
    ]
    assert runs == [True, True, True, False, False]


@pytest.mark.trouble
@pytest.mark.requirement("APR-2")
def test_padding_does_not_push_the_payload_out_of_what_the_approver_reads(trouble_case: TroubleCase) -> None:
    """APR-07: the card showed 200 characters, and the payload stood below sixty empty lines."""
    case = trouble_case("APR-07")["input"]
    summary = summarize(
        operation(case["args"], of=tool("run", input_schema=ANY, resource=None)), Redactor(vocabulary=NOTHING)
    )
    lines = summary.split("\n")
    assert any(line.strip() == "rmtree('data')" for line in lines)
    assert any("blank lines" in line for line in lines)
    assert len(lines) < 12


@pytest.mark.trouble
@pytest.mark.requirement("APR-3")
def test_who_approves_is_not_who_a_request_says(trouble_case: TroubleCase) -> None:
    """APR-09: any name in the body approved; the one who asked decided about itself."""
    claimed = trouble_case("APR-09")["input"]["body"]["resolved_by"]
    agent = Principal("acme", "bot", acting_for=claimed)
    asked = replace(
        approval(operation(by=Caller(agent, task="t1")), ApprovalState.PENDING), requesters=frozenset({"bot", claimed})
    )
    for voter in ("bot", claimed):
        by = Principal("acme", voter, groups=frozenset({"lead"}))
        assert may_vote(asked, by=by, now_us=NOW_US) == "Who asked may not approve."
    vote = Vote("carol", frozenset({"lead"}), approve=True, at_us=NOW_US)
    assert tally(asked.requirement, (vote,)) is ApprovalEvent.APPROVE
