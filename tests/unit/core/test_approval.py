"""Votes on an approval: who may, what they add up to, and which states may follow."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.approval import (
    APPROVAL_TRANSITIONS,
    ApprovalEvent,
    ApprovalState,
    Requirement,
    Vote,
    concerns,
    may_vote,
    next_state,
    tally,
)
from interlock.core.call import Principal, PrincipalKind
from tests.unit.core.call_cases import NOW_US, approval, operation

LEAD = frozenset({"lead"})
ALICE, BOB = Principal("acme", "alice", groups=LEAD), Principal("acme", "bob", groups=LEAD)
ROLES = st.frozensets(st.sampled_from(["lead", "legal"]))
REQUIREMENTS = st.builds(Requirement, ROLES, st.integers(0, 3), st.integers(60, 3600), distinct=st.booleans())
VOTES = st.lists(st.builds(Vote, st.sampled_from("abc"), ROLES, st.booleans(), st.just(NOW_US)), max_size=4).map(tuple)


def vote(who: str = "bob", roles: frozenset[str] = LEAD, *, approve: bool = True) -> Vote:
    return Vote(who, roles, approve, NOW_US)


@pytest.mark.parametrize(("state", "event"), sorted({*product(ApprovalState, ApprovalEvent)} - {*APPROVAL_TRANSITIONS}))
def test_a_step_that_the_table_does_not_have_is_illegal(state: ApprovalState, event: ApprovalEvent) -> None:
    assert next_state(state, event) is None


@pytest.mark.requirement("APR-2")
def test_a_grant_is_used_once() -> None:
    assert next_state(ApprovalState.GRANTED, ApprovalEvent.USE) is ApprovalState.USED
    assert [event for event in ApprovalEvent if next_state(ApprovalState.USED, event)] == []
    assert [state for state in ApprovalState if next_state(state, ApprovalEvent.USE)] == [ApprovalState.GRANTED]


@given(st.lists(st.sampled_from(ApprovalEvent)))
def test_no_order_of_events_leaves_the_table(events: list[ApprovalEvent]) -> None:
    state = ApprovalState.PENDING
    for event in events:
        state = next_state(state, event) or state
    assert state in ApprovalState
    if ApprovalEvent.APPROVE not in events:
        assert state is not ApprovalState.USED


@given(REQUIREMENTS, VOTES)
def test_what_votes_add_up_to_is_a_step_from_pending_or_nothing(need: Requirement, votes: tuple[Vote, ...]) -> None:
    event = tally(need, votes)
    assert event is None or (ApprovalState.PENDING, event) in APPROVAL_TRANSITIONS


@pytest.mark.requirement("APR-3")
@given(REQUIREMENTS, VOTES)
def test_it_is_approved_only_by_enough_people_with_all_roles_and_no_denial(
    need: Requirement, votes: tuple[Vote, ...]
) -> None:
    if tally(need, votes) is ApprovalEvent.APPROVE:
        assert all(each.approve for each in votes)
        assert len({each.approver for each in votes}) >= max(1, need.quorum)
        assert need.roles <= {role for each in votes for role in each.roles}


@pytest.mark.requirement("APR-3")
def test_a_quorum_counts_people_not_votes() -> None:
    need = Requirement(LEAD, quorum=2)
    assert tally(need, (vote("bob"), vote("bob"))) is None
    assert tally(need, (vote("bob"), vote("eve"))) is ApprovalEvent.APPROVE


@pytest.mark.requirement("APR-3")
def test_each_role_must_be_held_by_one_of_those_who_approve() -> None:
    need = Requirement(frozenset({"lead", "legal"}))
    assert tally(need, (vote("bob"),)) is None
    assert tally(need, (vote("bob"), vote("eve", frozenset({"legal"})))) is ApprovalEvent.APPROVE


@pytest.mark.requirement("APR-3")
def test_one_denial_denies_whatever_the_others_say() -> None:
    assert tally(Requirement(), (vote("bob"), vote("eve", approve=False))) is ApprovalEvent.DENY


def test_nobody_at_all_approves_nothing() -> None:
    assert tally(Requirement(quorum=0), ()) is None


@pytest.mark.requirement("APR-3")
@pytest.mark.parametrize(
    ("voter", "groups", "why"),
    [
        ("bob", LEAD, None),
        ("alice", LEAD, "Who asked may not approve."),
        ("bob", frozenset({"research"}), "It takes one of these roles: lead."),
        ("bob", frozenset(), "It takes one of these roles: lead."),
    ],
)
def test_the_role_is_needed_and_the_requester_may_not(voter: str, groups: frozenset[str], why: str | None) -> None:
    asked = approval(operation(), ApprovalState.PENDING)
    assert may_vote(asked, by=Principal("acme", voter, groups=groups), now_us=NOW_US) == why


@pytest.mark.requirement("APR-3")
def test_who_the_operation_is_made_for_may_not_approve_it_either() -> None:
    asked = approval(operation(), ApprovalState.PENDING, requesters=frozenset({"bot", "alice"}))
    assert may_vote(asked, by=ALICE, now_us=NOW_US) == "Who asked may not approve."


def test_where_separation_of_duty_is_off_the_requester_may() -> None:
    asked = approval(operation(), ApprovalState.PENDING, requirement=Requirement(LEAD, distinct=False))
    assert may_vote(asked, by=ALICE, now_us=NOW_US) is None


def test_nobody_votes_twice() -> None:
    asked = approval(operation(), ApprovalState.PENDING, votes=(vote("bob"),))
    assert may_vote(asked, by=BOB, now_us=NOW_US) == "You have decided already."


@pytest.mark.parametrize("state", [each for each in ApprovalState if each is not ApprovalState.PENDING])
def test_what_is_decided_is_not_voted_on(state: ApprovalState) -> None:
    why = may_vote(approval(operation(), state), by=BOB, now_us=NOW_US)
    assert why == f"The approval is {state.value}."


@pytest.mark.requirement("APR-6")
@pytest.mark.parametrize(("after_us", "expired"), [(-1, False), (0, True), (1, True)])
def test_at_the_very_instant_of_expiry_it_is_expired(after_us: int, expired: bool) -> None:
    asked = approval(operation(), ApprovalState.PENDING, expires_at_us=NOW_US)
    assert asked.is_expired(NOW_US + after_us) is expired
    why = may_vote(asked, by=BOB, now_us=NOW_US + after_us)
    assert why == ("The approval has expired." if expired else None)


@given(REQUIREMENTS, REQUIREMENTS)
def test_two_requirements_together_cover_both(one: Requirement, two: Requirement) -> None:
    both = one.plus(two)
    assert both.covers(one)
    assert both.covers(two)
    assert both.lifetime_s == min(one.lifetime_s, two.lifetime_s)


@pytest.mark.parametrize(
    "larger",
    [Requirement(frozenset({"lead", "legal"})), Requirement(LEAD, quorum=2)],
)
def test_a_grant_does_not_cover_a_larger_requirement(larger: Requirement) -> None:
    assert not Requirement(LEAD).covers(larger)
    assert not Requirement(LEAD, distinct=False).covers(Requirement(LEAD))


@pytest.mark.requirement("APR-3")
@pytest.mark.parametrize("distinct", [True, False])
def test_neither_an_agent_nor_who_acts_for_somebody_else_decides(distinct: bool) -> None:
    asked = approval(operation(), ApprovalState.PENDING, requirement=Requirement(LEAD, distinct=distinct))
    agent = replace(BOB, kind=PrincipalKind.AGENT)
    for_alice, for_eve = (replace(BOB, kind=PrincipalKind.SERVICE, acting_for=whom) for whom in ("alice", "eve"))
    assert may_vote(asked, by=agent, now_us=NOW_US) == "An agent may not decide an approval."
    for by in (for_alice, for_eve, replace(BOB, acting_for="eve")):
        assert may_vote(asked, by=by, now_us=NOW_US) == "Who acts for somebody else may not decide an approval."
    assert may_vote(asked, by=replace(for_alice, acting_for=None), now_us=NOW_US) is None


@pytest.mark.requirement("APR-3")
def test_who_had_a_hand_in_what_an_approval_replaces_may_not_decide_it() -> None:
    edited = approval(operation(), id="a0").edited_by("bob")
    asked = approval(operation(), ApprovalState.PENDING).in_place_of(edited)
    assert (asked.replaces, asked.requesters) == ("a0", frozenset({"alice", "bob"}))
    assert may_vote(asked, by=BOB, now_us=NOW_US) == "Who edited it may not approve it."
    assert may_vote(asked, by=ALICE, now_us=NOW_US) == "Who asked may not approve."
    assert approval(operation()).in_place_of(None) == approval(operation())


@pytest.mark.requirement("APR-2", "APR-3")
def test_a_grant_is_met_by_votes_that_it_has_and_by_nobody_who_asked() -> None:
    assert approval(operation(), votes=(vote(),)).is_met
    for votes in ((), (vote(approve=False),), (vote(roles=frozenset()),), (vote(), vote("alice"))):
        assert not approval(operation(), votes=votes).is_met
    two = Requirement(LEAD, quorum=2)
    assert not approval(operation(), votes=(vote(), vote()), requirement=two).is_met
    assert approval(operation(), votes=(vote("alice"),), requirement=Requirement(LEAD, distinct=False)).is_met


@pytest.mark.requirement("APR-3")
def test_an_approval_concerns_who_asked_who_decided_and_whose_decision_it_takes() -> None:
    asked = approval(operation(), ApprovalState.PENDING, votes=(vote("carol"),))
    no_roles = replace(asked, requirement=Requirement())
    for by in ("alice", "carol"):
        assert concerns(asked, Principal("acme", by))
    stranger, agent = Principal("acme", "dave"), Principal("acme", "bot", PrincipalKind.AGENT, LEAD)
    assert concerns(asked, BOB)
    assert not concerns(asked, stranger)
    assert concerns(no_roles, stranger)
    for by in (agent, replace(BOB, acting_for="alice")):
        assert not concerns(asked, by)
        assert not concerns(no_roles, by)
