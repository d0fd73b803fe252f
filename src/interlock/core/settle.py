"""What an outcome means for the claim: the step of its state, what it cost, and what a cut-off call came to."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from interlock.core.budget import AMOUNT_MAX, NOTHING, Amounts
from interlock.core.effect import CallEvent
from interlock.core.items import Items, ItemState, failed_again, marked, open_names, rejoined
from interlock.core.observation import Observation
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome, Partial, Produced, Succeeded, Unknown
from interlock.core.refusals import Code

_SUCCEED = CallEvent.SUCCEED  # what most come to: looking it up in its class costs as much as a call
_new = tuple.__new__  # what every call makes: a class of tuples has a constructor of its own, which is slow


def settled_as(outcome: Outcome) -> CallEvent:
    """The step that a claimed call takes. A result that is withheld was executed all the same."""
    match outcome:
        case Succeeded():
            return _SUCCEED
        case Partial():
            return CallEvent.SUCCEED_PARTLY
        case Failed(code=Code.OUTPUT_INVALID):
            return CallEvent.SUCCEED
        case Failed(nothing_happened=True):
            return CallEvent.PROVE_NOTHING_HAPPENED
        case Failed():
            return CallEvent.FAIL
        case Unknown():
            return CallEvent.LOSE_OUTCOME
        case _:
            assert_never(outcome)


def spent_on(operation: Operation, outcome: Outcome, *, elapsed_ms: int) -> Amounts:
    """What the call cost. Unreported usage is charged its declared maximum, never zero; what never ran costs none."""
    declared = operation.tool.spec.cost.max_micros
    spent = outcome.produced.spent if type(outcome) is Succeeded else _reported(outcome)
    if spent is None:
        return _new(Amounts, (0, 0, 0, declared, elapsed_ms, 0))
    cost = declared if not _cost_reported(outcome) else _bounded(spent.cost_micros)
    return Amounts(0, 0, _bounded(spent.tokens), cost, elapsed_ms)


def _bounded(amount: int) -> int:
    return max(0, min(amount, AMOUNT_MAX))


def _reported(outcome: Outcome) -> Amounts | None:
    match outcome:
        case Succeeded() | Partial():
            return outcome.produced.spent
        case Failed(nothing_happened=True):
            return outcome.spent
        case Failed():
            return outcome.spent if outcome.spent != NOTHING else None
        case Unknown():
            return outcome.spent
        case _:
            assert_never(outcome)


def _cost_reported(outcome: Outcome) -> bool:
    return not isinstance(outcome, Succeeded | Partial) or outcome.produced.cost_reported


def repeated(outcome: Outcome) -> Outcome:
    """What is known once an unknown call was repeated: a failure of the repeat says nothing of what came before it."""
    if not isinstance(outcome, Failed) or outcome.code is Code.OUTPUT_INVALID:
        return outcome
    spent = outcome.spent if outcome.nothing_happened or any(outcome.spent) else None
    says = f"{outcome.message.rstrip('. ')}. An earlier attempt may have done it."
    return Unknown(says, spent, outcome.attempts)


def gone_on(outcome: Outcome, rest: Observation) -> Outcome:
    """What is known of a whole call once what was open of it was tried again: what was done stays done."""
    before = rest.items or marked(rest.open_items)
    match outcome:
        case Succeeded():
            items = rejoined(before, outcome.produced.items, still_open=())
            return _in_items(outcome.data, items, outcome)
        case Partial():
            items = rejoined(before, outcome.produced.items, still_open=outcome.open_items)
            return _in_items(outcome.data, items, outcome)
        case Failed():
            state = ItemState.OPEN if outcome.nothing_happened else ItemState.UNKNOWN
            items = failed_again(before, says=outcome.message, state=state)
            spent = outcome.spent if outcome.nothing_happened or any(outcome.spent) else None
            produced = Produced(items=items, spent=spent)
            return Partial(rest.data_json or b"null", open_names(items), produced, outcome.attempts)
        case Unknown():
            return replace(outcome, items=failed_again(before, says=outcome.reason, state=ItemState.UNKNOWN))
        case _:
            assert_never(outcome)


def _in_items(data: bytes, items: Items, outcome: Succeeded | Partial) -> Outcome:
    produced, left = replace(outcome.produced, items=items), open_names(items)
    if not left:
        return Succeeded(data, produced, outcome.attempts)
    return Partial(data, left, produced, outcome.attempts)


def plainly(outcome: Outcome) -> Outcome:
    """The same in words of ours, with nothing in it that a tool handed back."""
    match outcome:
        case Succeeded() | Partial():
            message = "It was executed, but what came of it cannot be put on record."
            return Failed(Code.OUTPUT_INVALID, message, attempts=outcome.attempts)
        case Failed():
            message = "It failed, for a reason that cannot be put on record."
            happened = outcome.nothing_happened
            return Failed(outcome.code, message, nothing_happened=happened, attempts=outcome.attempts)
        case Unknown():
            return Unknown("Whether it happened is not known.", attempts=outcome.attempts)
        case _:
            assert_never(outcome)


def cut_off(operation: Operation, *, dispatched: bool) -> Outcome:
    """What a call that was cancelled came to: nothing, if it was not dispatched; else unknown, unless it only read."""
    if not dispatched:
        return Failed(Code.CANCELLED, "Cancelled before anything ran.", nothing_happened=True)
    return _in_doubt(operation, Code.CANCELLED, "It was cancelled while it ran")


def broken(operation: Operation, *, dispatched: bool) -> Outcome:
    """What a call came to whose runner itself failed."""
    if not dispatched:
        return Failed(Code.TOOL_EXCEPTION, "It could not be started.", nothing_happened=True)
    return _in_doubt(operation, Code.TOOL_EXCEPTION, "What runs it failed")


def _in_doubt(operation: Operation, code: Code, what: str) -> Outcome:
    if operation.spec.effect.is_effect:
        return Unknown(f"{what}; whether it happened is not known.")
    read = Amounts(cost_micros=operation.spec.cost.max_micros)
    return Failed(code, f"{what}.", nothing_happened=True, spent=read)
