"""What an outcome means for the claim: its next state, and what is charged."""

import pytest

from interlock.core.budget import AMOUNT_MAX, Amounts
from interlock.core.effect import TRANSITIONS, CallEvent, CallState, Effect
from interlock.core.outcome import Failed, Outcome, Partial, Produced, Succeeded, Unknown
from interlock.core.refusals import Code
from interlock.core.settle import broken, cut_off, plainly, repeated, settled_as, spent_on
from interlock.core.tool import Cost
from tests.unit.core.call_cases import operation, tool

PAID = operation(of=tool(cost=Cost(100)))
READ = operation(of=tool("read_draft", Effect.READ, cost=Cost(100)))
REPORTED = Produced(spent=Amounts(tokens=7, cost_micros=30))


@pytest.mark.parametrize(
    ("outcome", "event", "state"),
    [
        (Succeeded(b"1"), CallEvent.SUCCEED, CallState.SUCCEEDED),
        (Partial(b"1", ("b",)), CallEvent.SUCCEED_PARTLY, CallState.PARTIAL),
        (Failed(Code.TOOL_ERROR, "No."), CallEvent.FAIL, CallState.FAILED),
        (Failed(Code.TOOL_ERROR, "No.", nothing_happened=True), CallEvent.PROVE_NOTHING_HAPPENED, CallState.RELEASED),
        (Unknown("Lost."), CallEvent.LOSE_OUTCOME, CallState.UNKNOWN),
    ],
)
def test_an_outcome_is_one_step_of_the_claim(outcome: Outcome, event: CallEvent, state: CallState) -> None:
    assert settled_as(outcome) is event
    assert TRANSITIONS[CallState.CLAIMED, event] is state


@pytest.mark.requirement("BUD-3")
def test_no_report_counts_for_more_than_one_call_may_cost() -> None:
    for amount, charged in ((2**70, AMOUNT_MAX), (-5, 0)):
        reported = Produced(spent=Amounts(tokens=amount, cost_micros=amount))
        assert spent_on(PAID, Succeeded(b"1", reported), elapsed_ms=0) == Amounts(tokens=charged, cost_micros=charged)


@pytest.mark.requirement("OBS-2")
@pytest.mark.parametrize("nothing_happened", [False, True])
def test_a_result_that_is_withheld_was_executed_all_the_same(nothing_happened: bool) -> None:
    withheld = Failed(Code.OUTPUT_INVALID, "Withheld.", nothing_happened=nothing_happened)
    assert settled_as(withheld) is CallEvent.SUCCEED


@pytest.mark.requirement("BUD-3")
@pytest.mark.parametrize(
    ("outcome", "charged"),
    [
        (Succeeded(b"1"), Amounts(cost_micros=100, working_ms=12)),
        (Partial(b"1", ("b",)), Amounts(cost_micros=100, working_ms=12)),
        (Failed(Code.TOOL_ERROR, "No."), Amounts(cost_micros=100, working_ms=12)),
        (Failed(Code.OUTPUT_INVALID, "Withheld."), Amounts(cost_micros=100, working_ms=12)),
        (Unknown("Lost."), Amounts(cost_micros=100, working_ms=12)),
        (
            Succeeded(b"1", Produced(spent=Amounts(tokens=7), cost_reported=False)),
            Amounts(tokens=7, cost_micros=100, working_ms=12),
        ),
    ],
)
def test_usage_that_is_not_reported_is_charged_its_declared_maximum(outcome: Outcome, charged: Amounts) -> None:
    assert spent_on(PAID, outcome, elapsed_ms=12) == charged


@pytest.mark.requirement("BUD-3")
@pytest.mark.parametrize(
    ("outcome", "tokens", "cost"),
    [
        (Succeeded(b"1", REPORTED), 7, 30),
        (Partial(b"1", ("b",), REPORTED), 7, 30),
        (Succeeded(b"1", Produced(spent=Amounts())), 0, 0),
        (Failed(Code.TOOL_ERROR, "No.", spent=Amounts(tokens=7, cost_micros=30)), 7, 30),
        (Unknown("Lost.", Amounts(cost_micros=30)), 0, 30),
        (Failed(Code.PRECONDITION_FAILED, "No.", nothing_happened=True), 0, 0),
        (Succeeded(b"1", Produced(spent=Amounts(tokens=-7, cost_micros=-30))), 0, 0),
    ],
)
def test_what_was_reported_is_charged_and_never_given_back(outcome: Outcome, tokens: int, cost: int) -> None:
    assert spent_on(PAID, outcome, elapsed_ms=1) == Amounts(tokens=tokens, cost_micros=cost, working_ms=1)


@pytest.mark.requirement("CALL-8")
@pytest.mark.parametrize("of", [PAID, READ])
def test_a_call_cut_off_before_dispatch_did_nothing_and_costs_nothing(of: object) -> None:
    outcome = cut_off(of, dispatched=False)  # type: ignore[arg-type]
    assert settled_as(outcome) is CallEvent.PROVE_NOTHING_HAPPENED
    assert spent_on(PAID, outcome, elapsed_ms=0) == Amounts()


@pytest.mark.requirement("CALL-8", "OBS-7")
def test_an_effect_cut_off_after_dispatch_is_unknown() -> None:
    outcome = cut_off(PAID, dispatched=True)
    assert settled_as(outcome) is CallEvent.LOSE_OUTCOME
    assert spent_on(PAID, outcome, elapsed_ms=0).cost_micros == 100


def test_a_read_cut_off_after_dispatch_changed_nothing_but_may_have_cost() -> None:
    outcome = cut_off(READ, dispatched=True)
    assert settled_as(outcome) is CallEvent.PROVE_NOTHING_HAPPENED
    assert spent_on(READ, outcome, elapsed_ms=0).cost_micros == 100


@pytest.mark.requirement("IDEM-3", "EXEC-5")
def test_a_call_whose_runner_broke_did_nothing_or_is_unknown() -> None:
    assert settled_as(broken(PAID, dispatched=False)) is CallEvent.PROVE_NOTHING_HAPPENED
    assert settled_as(broken(PAID, dispatched=True)) is CallEvent.LOSE_OUTCOME
    assert settled_as(broken(READ, dispatched=True)) is CallEvent.PROVE_NOTHING_HAPPENED


@pytest.mark.requirement("IDEM-3", "BUD-3")
def test_a_repeat_proves_nothing_of_what_came_before_it_and_costs_what_it_cost_itself() -> None:
    for failed, cost in (
        (Failed(Code.PRECONDITION_FAILED, "Not now.", nothing_happened=True), 0),
        (Failed(Code.TOOL_ERROR, "No.", tool_code="full"), 100),
        (Failed(Code.TOOL_ERROR, "No.", tool_code="full", nothing_happened=True, spent=Amounts(cost_micros=7)), 7),
    ):
        outcome = repeated(failed)
        assert settled_as(outcome) is CallEvent.LOSE_OUTCOME
        assert spent_on(PAID, outcome, elapsed_ms=0).cost_micros == cost
    for kept in (Succeeded(b"1"), Unknown("Lost."), Failed(Code.OUTPUT_INVALID, "Withheld.")):
        assert repeated(kept) is kept


@pytest.mark.requirement("EXEC-5", "IDEM-3")
@pytest.mark.parametrize(
    "outcome",
    [
        Succeeded(b"1"),
        Partial(b"1", ("b",)),
        Failed(Code.TOOL_ERROR, "No.", tool_code="full"),
        Failed(Code.TOOL_ERROR, "No.", nothing_happened=True),
        Unknown("Lost."),
    ],
)
def test_an_outcome_in_plain_words_says_the_same_of_what_happened(outcome: Outcome) -> None:
    plain = plainly(outcome)
    happened = (CallEvent.SUCCEED, CallEvent.SUCCEED_PARTLY)
    assert (settled_as(plain) in happened) == (settled_as(outcome) in happened)
    assert settled_as(plain) is settled_as(outcome) or settled_as(outcome) in happened
    assert "No." not in str(plain)
