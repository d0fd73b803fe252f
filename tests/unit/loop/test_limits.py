"""Limits of a run: what is an amount, which names there are, and how those of installations are taken."""

from dataclasses import fields

import pytest

from interlock import Limit, Limits, ScopeKind, Unit
from interlock.core.errors import SettingsInvalid
from interlock.loop.limits import RunLimits

pytestmark = pytest.mark.requirement("BUD-1")


@pytest.mark.parametrize("name", [each.name for each in fields(RunLimits) if each.name != "calls_per_tool"])
@pytest.mark.parametrize("given", [-1, True, "3", float("nan")])
def test_what_is_no_amount_is_refused_by_name(name: str, given: object) -> None:
    with pytest.raises(SettingsInvalid, match=f"limits: {name} is a number from 0, or None"):
        RunLimits(**{name: given})  # type: ignore[arg-type]
    RunLimits(**{name: 0})  # type: ignore[arg-type]


def test_of_one_tool_amounts_are_checked_too() -> None:
    with pytest.raises(SettingsInvalid, match="calls_per_tool"):
        RunLimits(calls_per_tool={"search": -1})


def test_seconds_are_kept_as_they_are_written_and_read_again() -> None:
    assert type(RunLimits(expires_s=60).expires_s) is float


def test_none_given_are_the_defaults_and_ones_own_are_kept() -> None:
    limits = RunLimits(rounds=3)
    assert (RunLimits.of(None), RunLimits.of(limits)) == (RunLimits(), limits)


@pytest.mark.parametrize(
    ("unit", "amount", "name", "taken"),
    [
        (Unit.ROUNDS, 7, "rounds", 7),
        (Unit.CALLS, 7, "calls", 7),
        (Unit.TOKENS, 7, "tokens", 7),
        (Unit.COST_MICROS, 7, "cost_micros", 7),
        (Unit.WORKING_MS, 1_500, "working_s", 1.5),
    ],
)
def test_a_limit_on_the_run_is_taken_in_the_runs_own_unit(unit: Unit, amount: int, name: str, taken: float) -> None:
    assert getattr(RunLimits.of(Limits((Limit(ScopeKind.RUN, unit, amount),))), name) == taken
