"""Decisions on one frozen operation: each gate by itself, and that nothing ever goes round one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.approval import Approval, ApprovalState, Requirement
from interlock.core.budget import Amounts, Limit, Reservation, ScopeKey, ScopeKind, Unit, Usage
from interlock.core.call import Caller
from interlock.core.decision import Allow, Ask, Decision, Deny, Replay, binding, decide, required
from interlock.core.effect import CallState, Effect
from interlock.core.facts import Facts, Prior
from interlock.core.operation import Operation
from interlock.core.policy import PolicySet, PolicySource, Verdict
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.run import RunFacts
from interlock.core.tool import ApprovalFloor
from tests.unit.core.call_cases import (
    ALICE,
    ASK,
    BY_ALICE,
    FORBID,
    NOW_US,
    PERMIT,
    READ,
    approval,
    facts,
    operation,
    prior,
    tool,
)

OPERATION = operation()
PUT = tool("put_draft", Effect.IDEMPOTENT_WRITE)
FLOOR = tool(approval_floor=ApprovalFloor(frozenset({"legal"}), quorum=2, lifetime_s=60, reason="Law."))


def reserved(unit: Unit, amount: int, kind: ScopeKind = ScopeKind.RUN, window_s: int = 0) -> Reservation:
    window_us = NOW_US - NOW_US % (window_s * 1_000_000) if window_s else 0
    taken = Amounts(calls=1, concurrent=1, cost_micros=10)
    return Reservation(ScopeKey("acme", kind, "r1", window_us), taken, (Limit(kind, unit, amount, window_s),))


def refusal(of: Operation, known: Facts) -> Deny:
    decision = decide(of, known)
    assert isinstance(decision, Deny), decision
    return decision


def code(of: Operation, known: Facts) -> Code:
    return refusal(of, known).code


@pytest.mark.requirement("POL-1")
def test_what_no_policy_permits_is_denied() -> None:
    assert isinstance(decide(OPERATION, facts(OPERATION)), Allow)
    assert code(OPERATION, facts(OPERATION, "")) is Code.PERMISSION_DENIED
    assert code(OPERATION, facts(OPERATION, PERMIT + FORBID)) is Code.PERMISSION_DENIED


@pytest.mark.requirement("POL-1")
def test_a_policy_engine_that_fails_is_a_denial() -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no engine")

    of = OPERATION.spec
    policies = PolicySet([PolicySource("main", PERMIT)], [of], evaluate=broken)  # type: ignore[arg-type]
    known = facts(OPERATION, slice=policies.slice(of, tenant="acme"))
    deny = refusal(OPERATION, known)
    assert deny.code is Code.PERMISSION_DENIED
    assert deny.verdict is not None


@pytest.mark.requirement("POL-1")
def test_a_policy_that_errors_is_a_denial() -> None:
    overflow = '@id("x") permit (principal, action, resource) when { WHEN };'
    overflow = overflow.replace("WHEN", "context.args has count && context.args.count * 9223372036854775807 > 0")
    many = operation({"draft_id": "r1", "count": 3})
    assert code(many, facts(many, PERMIT + overflow)) is Code.PERMISSION_DENIED


@pytest.mark.requirement("IDEM-1")
@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.IDEMPOTENT_WRITE, Effect.DESTRUCTIVE])
def test_an_effect_outside_a_run_without_task_or_key_is_refused(effect: Effect) -> None:
    of = operation(of=tool("effect", effect), by=Caller(ALICE))
    assert code(of, facts(of)) is Code.IDEMPOTENCY_REQUIRED


@pytest.mark.requirement("IDEM-1")
def test_a_read_needs_no_key() -> None:
    of = operation(of=READ, by=Caller(ALICE))
    assert isinstance(decide(of, facts(of)), Allow)


@pytest.mark.requirement("IDEM-2")
@pytest.mark.parametrize("state", [CallState.SUCCEEDED, CallState.PARTIAL, CallState.FAILED, CallState.UNKNOWN])
def test_the_same_key_and_arguments_replay_whatever_came_of_it(state: CallState) -> None:
    before = prior(OPERATION, state)
    decision = decide(OPERATION, facts(OPERATION, prior=before))
    assert isinstance(decision, Replay)
    assert (decision.prior, decision.visible) == (before, True)


@pytest.mark.requirement("IDEM-2")
def test_a_replay_takes_no_budget_and_no_approval() -> None:
    used_up = {"reservations": (reserved(Unit.CALLS, 0),), "usage": (Usage(),)}
    decision = decide(OPERATION, facts(OPERATION, ASK, prior=prior(OPERATION), **used_up))
    assert isinstance(decision, Replay)
    assert decision.visible


@pytest.mark.requirement("IDEM-2")
def test_whether_a_replay_may_be_seen_is_todays_policy() -> None:
    decision = decide(OPERATION, facts(OPERATION, FORBID, prior=prior(OPERATION)))
    assert isinstance(decision, Replay)
    assert not decision.visible


@pytest.mark.requirement("IDEM-2")
@pytest.mark.parametrize("change", [{"model_digest": "other"}, {"tool": "send_draft"}])
@pytest.mark.parametrize("state", [CallState.SUCCEEDED, CallState.CLAIMED, CallState.UNKNOWN])
def test_the_same_key_for_something_else_is_a_conflict(change: dict[str, str], state: CallState) -> None:
    assert code(OPERATION, facts(OPERATION, prior=prior(OPERATION, state, **change))) is Code.IDEMPOTENCY_CONFLICT


@pytest.mark.requirement("IDEM-2")
@pytest.mark.parametrize("observation", [None, b"{}"])
def test_what_is_still_running_is_not_started_again(observation: bytes | None) -> None:
    running = prior(OPERATION, CallState.CLAIMED, observation=observation)
    deny = refusal(OPERATION, facts(OPERATION, prior=running))
    assert deny.code is Code.IDEMPOTENCY_IN_PROGRESS
    assert deny.details == {"operation_id": "op1"}
    assert deny.retry_after_s is not None


@pytest.mark.requirement("IDEM-2")
def test_a_call_that_was_proved_not_to_have_happened_leaves_its_key_free() -> None:
    released = prior(OPERATION, CallState.RELEASED, model_digest="other")
    assert isinstance(decide(OPERATION, facts(OPERATION, prior=released)), Allow)


@pytest.mark.requirement("IDEM-2")
def test_only_what_is_safe_to_repeat_continues_an_unknown_call() -> None:
    put = operation(of=PUT)
    decision = decide(put, facts(put, prior=prior(put, CallState.UNKNOWN)))
    assert isinstance(decision, Allow)
    assert decision.continues == "op1"
    assert isinstance(decide(OPERATION, facts(OPERATION, prior=prior(OPERATION, CallState.UNKNOWN))), Replay)


@pytest.mark.requirement("IDEM-3", "POL-1", "APR-2", "BUD-1")
def test_the_repeat_of_an_unknown_call_passes_every_gate_that_a_new_call_passes() -> None:
    put = operation(of=PUT)
    unknown = prior(put, CallState.UNKNOWN)
    for policy in (FORBID, ""):
        assert refusal(put, facts(put, policy, prior=unknown)).code is Code.PERMISSION_DENIED
    declined = RunFacts("r1", denied=frozenset({put.digest}))
    assert refusal(put, facts(put, prior=unknown, run=declined)).code is Code.APPROVAL_DENIED
    spent = facts(put, prior=unknown, reservations=(reserved(Unit.CALLS, 1),), usage=(Usage(held=Amounts(calls=1)),))
    assert refusal(put, spent).code is Code.BUDGET_EXHAUSTED
    assert isinstance(decide(put, facts(put, ASK, prior=unknown)), Ask)


@pytest.mark.requirement("IDEM-3", "APR-2")
def test_an_approved_repeat_continues_the_unknown_call_and_takes_an_approval_of_its_own() -> None:
    put = operation(of=PUT)
    unknown = prior(put, CallState.UNKNOWN)
    decision = decide(put, facts(put, ASK, prior=unknown, grant=approval(put)))
    assert isinstance(decision, Allow)
    assert (decision.continues, decision.grant is None) == ("op1", False)
    used = approval(put, ApprovalState.USED)
    assert isinstance(decide(put, facts(put, ASK, prior=unknown, grant=used)), Replay)


@pytest.mark.requirement("IDEM-3", "IDEM-4")
def test_an_unknown_call_is_not_repeated_while_somebody_may_still_be_at_work_on_it() -> None:
    put = operation(of=PUT)
    running = prior(put, CallState.UNKNOWN, goes_on=True)
    assert code(put, facts(put, prior=running)) is Code.IDEMPOTENCY_IN_PROGRESS


@pytest.mark.requirement("APR-2")
def test_an_unknown_call_is_not_repeated_past_the_approval_floor_of_its_tool() -> None:
    put = operation(of=tool("put_draft", Effect.IDEMPOTENT_WRITE, approval_floor=ApprovalFloor(frozenset({"lead"}))))
    assert isinstance(decide(put, facts(put, prior=prior(put, CallState.UNKNOWN))), Ask)


@pytest.mark.requirement("APR-6")
def test_what_a_person_declined_in_a_run_stays_declined() -> None:
    run = RunFacts("r1", denied=frozenset({OPERATION.digest}))
    assert code(OPERATION, facts(OPERATION, ASK, run=run)) is Code.APPROVAL_DENIED
    assert code(OPERATION, facts(OPERATION, PERMIT, run=run)) is Code.APPROVAL_DENIED
    other = operation({"draft_id": "r2"})
    assert isinstance(decide(other, facts(other, ASK, run=run)), Ask)


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize(
    ("taken", "told"),
    [
        (reserved(Unit.CALLS, 0), Code.BUDGET_EXHAUSTED),
        (reserved(Unit.COST_MICROS, 9), Code.BUDGET_EXHAUSTED),
        (reserved(Unit.CONCURRENT, 0), Code.RATE_LIMITED),
        (reserved(Unit.CALLS, 0, window_s=60), Code.RATE_LIMITED),
        (reserved(Unit.CALLS, 0, ScopeKind.OPERATION), Code.REPEATED_CALL),
    ],
)
def test_a_limit_that_is_reached_is_named_with_what_is_left(taken: Reservation, told: Code) -> None:
    deny = refusal(OPERATION, facts(OPERATION, reservations=(taken,), usage=(Usage(),)))
    (limit,) = taken.limits
    resets = taken.scope.window_us + 60_000_000 if limit.window_s else None
    assert deny.code is told
    assert deny.details == {
        "limit": limit.amount,
        "unit": limit.unit.value,
        "scope": limit.scope.value,
        "left": limit.amount,
        "resets_at_us": resets,
    }
    assert (deny.retry_after_s is not None) == (told is Code.RATE_LIMITED)


@pytest.mark.requirement("BUD-1")
def test_a_budget_that_is_used_up_is_told_before_a_rate_and_of_rates_the_longest_wait() -> None:
    short = reserved(Unit.CONCURRENT, 0)
    long = reserved(Unit.CALLS, 0, window_s=3600)
    spent = reserved(Unit.CALLS, 0, ScopeKind.TENANT)
    both = refusal(OPERATION, facts(OPERATION, reservations=(short, long), usage=(Usage(), Usage())))
    assert both.retry_after_s is not None
    assert both.retry_after_s > 1
    known = facts(OPERATION, reservations=(short, long, spent), usage=(Usage(),) * 3)
    assert refusal(OPERATION, known).code is Code.BUDGET_EXHAUSTED


@pytest.mark.requirement("APR-2")
def test_a_grant_for_exactly_this_runs_it_and_is_used_by_the_claim() -> None:
    grant = approval(OPERATION)
    decision = decide(OPERATION, facts(OPERATION, ASK, grant=grant))
    assert isinstance(decision, Allow)
    assert decision.grant is grant


@pytest.mark.requirement("APR-2")
@pytest.mark.parametrize(
    ("changed", "of"),
    [
        ({"operation_digest"}, operation({"draft_id": "r1", "content": "y"})),
        ({"operation_digest", "resource"}, operation({"draft_id": "r2", "content": "x"})),
        ({"operation_digest", "version", "slice_digest"}, operation(of=tool(version="2"))),
        ({"operation_digest", "tool"}, operation(of=tool("send_draft"))),
        ({"operation_digest", "principal"}, operation(by=replace(BY_ALICE, principal=replace(ALICE, id="eve")))),
    ],
)
def test_a_grant_is_void_for_anything_else(changed: set[str], of: Operation) -> None:
    deny = refusal(of, facts(of, ASK, grant=approval(OPERATION)))
    assert deny.code is Code.APPROVAL_MISMATCH
    told = deny.details["changed"]
    assert isinstance(told, list)
    assert changed - {"slice_digest"} <= {*told} <= changed | {"slice_digest"}
    assert "_" not in deny.message


@pytest.mark.requirement("APR-2")
def test_a_grant_is_void_when_the_policies_of_the_tool_or_the_version_of_the_resource_change() -> None:
    grant = approval(OPERATION)
    other = ASK + '@id("more") permit (principal, action, resource) when { context.args.draft_id == "r9" };'
    moved = Resource("Draft", "r1", "8")
    policies = refusal(OPERATION, facts(OPERATION, other, grant=grant))
    assert policies.details == {"changed": ["slice_digest"]}
    assert policies.message == "What the approval was given for has changed since: the policies that decide it."
    resource = refusal(OPERATION, facts(OPERATION, ASK, grant=grant, resource=moved))
    assert resource.details == {"changed": ["resource_version"]}
    assert resource.message.endswith("has changed since: the version of the resource.")


@pytest.mark.requirement("APR-2", "APR-6")
@pytest.mark.parametrize(
    ("state", "at_us", "told"),
    [
        (ApprovalState.PENDING, NOW_US, Code.APPROVAL_REQUIRED),
        (ApprovalState.PENDING, NOW_US + 60_000_000, Code.APPROVAL_EXPIRED),
        (ApprovalState.GRANTED, NOW_US + 60_000_000, Code.APPROVAL_EXPIRED),
        (ApprovalState.EXPIRED, NOW_US, Code.APPROVAL_EXPIRED),
        (ApprovalState.DENIED, NOW_US, Code.APPROVAL_DENIED),
        (ApprovalState.USED, NOW_US, Code.APPROVAL_MISMATCH),
        (ApprovalState.WITHDRAWN, NOW_US, Code.APPROVAL_MISMATCH),
        (ApprovalState.VOID, NOW_US, Code.APPROVAL_MISMATCH),
    ],
)
def test_only_a_live_grant_runs(state: ApprovalState, at_us: int, told: Code) -> None:
    known = facts(OPERATION, ASK, grant=approval(OPERATION, state), as_of_us=at_us)
    assert refusal(OPERATION, known).code is told


@pytest.mark.requirement("APR-2", "APR-3")
def test_a_grant_without_the_votes_that_it_requires_runs_nothing() -> None:
    for forged in (approval(OPERATION, votes=()), approval(OPERATION, requirement=Requirement(quorum=2))):
        deny = refusal(OPERATION, facts(OPERATION, ASK, grant=forged))
        assert (deny.code, "votes" in deny.message) == (Code.APPROVAL_MISMATCH, True)


@pytest.mark.requirement("APR-2")
def test_a_requirement_that_has_grown_asks_again() -> None:
    of = operation(of=FLOOR)
    small = approval(of, binding=binding(of, facts(of, ASK), _verdict(of, ASK)))
    decision = decide(of, facts(of, ASK, grant=small))
    assert isinstance(decision, Ask)
    assert decision.requirement.quorum == 2


@pytest.mark.requirement("APR-6")
def test_edited_arguments_are_another_operation_that_is_asked_for_afresh() -> None:
    edited = operation({"draft_id": "r1", "content": "edited"})
    assert isinstance(decide(edited, facts(edited, ASK)), Ask)
    assert edited.digest != OPERATION.digest


@pytest.mark.requirement("TOOL-3")
def test_policy_cannot_lower_the_approval_floor_of_a_tool() -> None:
    of = operation(of=FLOOR)
    floor = Requirement(frozenset({"legal"}), 2, 60, ("Law.",))
    assert required(of, _verdict(of, PERMIT)) == floor
    decision = decide(of, facts(of, ASK))
    assert isinstance(decision, Ask)
    assert (decision.requirement.roles, decision.requirement.quorum) == (frozenset({"lead", "legal"}), 2)
    assert decision.requirement.lifetime_s == 60


SITUATIONS = st.fixed_dictionaries(
    {
        "run": st.builds(
            RunFacts,
            st.just("r1"),
            denied=st.sampled_from([frozenset(), frozenset({OPERATION.digest})]),
            ended=st.sampled_from([None, "cancelled"]),
        ),
        "prior": st.none()
        | st.builds(
            Prior,
            st.just("op1"),
            st.sampled_from(["save_draft", "other"]),
            st.sampled_from([OPERATION.model_digest, "other"]),
            st.sampled_from(CallState),
            st.sampled_from([None, b"{}"]),
            st.just(1),
            st.just(facts(OPERATION).run.labels),
        ),
        "grant": st.none()
        | st.sampled_from(ApprovalState).map(lambda state: approval(OPERATION, state))
        | st.sampled_from(ApprovalState).map(lambda state: approval(operation({"draft_id": "r2"}), state)),
        "deadline_us": st.sampled_from([None, NOW_US - 1, NOW_US, NOW_US + 1]),
        "resource": st.sampled_from([None, Resource("Draft", "r1", "7"), Resource("Other", "r1")]),
    }
)
LIMITS = st.lists(st.tuples(st.sampled_from(Unit), st.integers(0, 3), st.integers(0, 3)), max_size=3)


@pytest.mark.requirement("POL-1", "APR-2", "IDEM-2")
@given(SITUATIONS, LIMITS, st.sampled_from([PERMIT, ASK, FORBID, "", PERMIT + FORBID, PERMIT + ASK]))
def test_every_situation_ends_in_a_decision_and_only_a_harmless_one_allows(
    known: dict[str, object], limits: list[tuple[Unit, int, int]], policy: str
) -> None:
    reservations = tuple(reserved(unit, amount) for unit, amount, _ in limits)
    usage = tuple(Usage(Amounts(calls=used, concurrent=used, cost_micros=used)) for _, _, used in limits)
    seen = facts(OPERATION, policy, reservations=reservations, usage=usage, **known)
    decision: Decision = decide(OPERATION, seen)
    assert isinstance(decision, Allow | Ask | Deny | Replay)
    if isinstance(decision, Allow):
        assert seen.run.ended is None
        assert OPERATION.digest not in seen.run.denied
        assert seen.prior is None or seen.prior.state is CallState.RELEASED
        assert policy in (PERMIT, ASK, PERMIT + ASK)
        assert ASK not in policy or _is_live(decision.grant, seen)


def test_a_decision_carries_the_verdict_it_was_made_with() -> None:
    for policy in (PERMIT, ASK, FORBID):
        decision = decide(OPERATION, facts(OPERATION, policy))
        assert decision.verdict is not None
        assert decision.verdict.slice_digest == facts(OPERATION, policy).slice.digest


def _verdict(of: Operation, policy: str) -> Verdict:
    decision = decide(of, facts(of, policy))
    assert decision.verdict is not None
    return decision.verdict


def _is_live(grant: Approval | None, known: Facts) -> bool:
    return grant is not None and grant.state is ApprovalState.GRANTED and not grant.is_expired(known.as_of_us)
