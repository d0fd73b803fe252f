"""Refusals say what is wrong without giving away what is not the caller's to know."""

from interlock.core.budget import Exhausted, Limit, ScopeKey, ScopeKind, Unit
from interlock.core.refusal_words import key_wanted, no_tool, over_said
from interlock.core.refusals import Code
from tests.agents import saves

SCOPE = ScopeKey("acme", ScopeKind.TENANT, "")


def test_of_a_limit_that_tenants_share_no_number_is_told() -> None:
    own = over_said(Exhausted(Limit(ScopeKind.TENANT, Unit.CALLS, 7), SCOPE, 1, None), now_us=0)
    assert (own.code, own.details["limit"], own.details["left"]) == (Code.BUDGET_EXHAUSTED, 7, 1)
    shared = over_said(Exhausted(Limit(ScopeKind.TOOL, Unit.CALLS, 7, window_s=60, shared=True), SCOPE, 1, 9), now_us=0)
    assert not {"limit", "left"} & shared.details.keys()
    assert "7" not in shared.message


def test_a_rate_says_when_to_come_again() -> None:
    said = over_said(
        Exhausted(Limit(ScopeKind.TENANT, Unit.CALLS, 7, window_s=60), SCOPE, 0, 3_000_000), now_us=1_000_000
    )
    assert (said.code, said.retry_after_s) == (Code.RATE_LIMITED, 2.0)


def test_a_long_name_is_not_said_again() -> None:
    assert "'nope'" in no_tool("nope")
    assert "x" * 20 not in no_tool("x" * 1_000)


def test_an_effect_without_a_key_is_told_what_makes_one() -> None:
    assert "business task" in key_wanted(saves("1", ran=[])[0].spec())
