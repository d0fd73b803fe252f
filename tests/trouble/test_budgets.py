"""Budgets that counted something else than they said, or counted it too late."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock.core.budget import Amounts, Limit, Limits, ScopeKind, Unit, Usage, exhausted, settled
from interlock.core.call import Caller
from interlock.core.limits import LimitTable
from interlock.core.outcome import Produced, Succeeded
from interlock.core.settle import spent_on
from interlock.core.tool import Cost
from tests.unit.core.call_cases import ALICE, operation, spec, tool

TroubleCase = Callable[[str], Mapping[str, Any]]
IN_RUN = Caller(ALICE, run="r1")


@pytest.mark.trouble
@pytest.mark.requirement("BUD-1")
def test_a_limit_of_n_calls_allows_n_whatever_lies_between(trouble_case: TroubleCase) -> None:
    """BUD-01: each layer divided the limit that the operator had set."""
    asked = trouble_case("BUD-01")["input"]["max_turns"]
    table = LimitTable.of(Limits((Limit(ScopeKind.RUN, Unit.CALLS, asked),)))
    (taken,) = table.reservations(IN_RUN, spec())
    used = [Usage(Amounts(calls=done)) for done in range(asked + 1)]
    assert [exhausted(taken, each) is None for each in used] == [True] * asked + [False]


@pytest.mark.trouble
@pytest.mark.requirement("BUD-1")
def test_of_parallel_calls_only_as_many_start_as_the_rest_pays_for(trouble_case: TroubleCase) -> None:
    """BUD-03: five siblings all read the same stale sum, and all started."""
    case = trouble_case("BUD-03")["input"]
    micros = {name: round(case[name] * 1e6) for name in ("limit_usd", "spent", "each_cost")}
    table = LimitTable.of(Limits((Limit(ScopeKind.RUN, Unit.COST_MICROS, micros["limit_usd"]),)))
    (taken,) = table.reservations(IN_RUN, spec(cost=Cost(micros["each_cost"])))
    usage = Usage(Amounts(cost_micros=micros["spent"]))
    started = 0
    for _ in range(case["parallel_children"]):
        if exhausted(taken, usage) is None:
            started += 1
            usage = usage._replace(held=usage.held.plus(taken.amounts))
    assert started == 0, "not even one fits into the tenth that is left"
    assert exhausted(taken, Usage(Amounts(cost_micros=micros["spent"] - micros["each_cost"]))) is None


@pytest.mark.trouble
@pytest.mark.requirement("BUD-3")
def test_usage_that_was_not_reported_is_not_free(trouble_case: TroubleCase) -> None:
    """BUD-05: streamed answers without usage were booked as zero, and the cap never tripped."""
    usage = trouble_case("BUD-05")["input"]["stream"][1]["usage"]
    paid = operation(of=tool(cost=Cost(100)))
    silent = spent_on(paid, Succeeded(b"1"), elapsed_ms=0)
    tokens = Amounts(tokens=usage["prompt_tokens"] + usage["completion_tokens"])
    counted = spent_on(paid, Succeeded(b"1", Produced(spent=tokens, cost_reported=False)), elapsed_ms=0)
    assert (silent.cost_micros, counted.cost_micros, counted.tokens) == (100, 100, 12_003)
    held = Amounts(calls=1, cost_micros=100, concurrent=1)
    assert settled(held, spent=silent) == Amounts(calls=1, cost_micros=100)
