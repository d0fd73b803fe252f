"""A plan stands where its steps stand: one after another, never beyond one that did not end well."""

import pytest

from interlock.core.call import Principal, PrincipalKind
from interlock.core.compensation_plan import (
    STEPS,
    CompensationPlan,
    CompensationState,
    CompensationStep,
    UndoState,
    plan_from_bytes,
    plan_to_bytes,
    restated,
)
from interlock.core.errors import StoreError
from interlock.core.observation import Observation, Status

pytestmark = pytest.mark.requirement("IDEM-6")

BY = Principal("acme", "alice", PrincipalKind.HUMAN, frozenset({"a", "b"}), claims={"x": 1, "y": "z"})


def plan(*states: UndoState) -> CompensationPlan:
    steps = tuple(CompensationStep(f"op-{index}", "save", "1", "remove", state) for index, state in enumerate(states))
    return CompensationPlan("p", "acme", BY, "wrong", 7, steps, run="r")


@pytest.mark.parametrize(
    ("states", "at", "stands"),
    [
        (("compensated", "irreversible", "nothing_to_undo"), None, CompensationState.COMPENSATED),
        (("irreversible", "pending", "pending"), 1, CompensationState.RUNNING),
        (("compensated", "waiting", "pending"), 1, CompensationState.WAITING),
        (("compensated", "failed", "pending"), 1, CompensationState.FAILED),
        (("unknown", "pending"), 0, CompensationState.FAILED),
    ],
)
def test_a_plan_stands_at_the_first_step_that_is_not_passed(
    states: tuple[str, ...], at: int | None, stands: CompensationState
) -> None:
    found = plan(*map(UndoState, states))
    assert (found.at, found.state) == (at, stands)


def test_only_steps_in_the_table_can_be_taken() -> None:
    for before in UndoState:
        for after in set(UndoState) - STEPS[before]:
            with pytest.raises(ValueError, match="does not become"):
                plan(before).steps[0].moved(after)


def test_trying_again_is_by_itself_no_new_call() -> None:
    for step in plan(UndoState.FAILED, UndoState.UNKNOWN).steps:
        assert (step.again().state, step.again().attempt) == (UndoState.PENDING, 1)


def test_a_plan_is_read_back_as_it_was() -> None:
    found = plan(*UndoState).with_step(
        0, CompensationStep("o", "t", "1", "c", UndoState.FAILED, 3, "u", "a", "why", ("x", "y"))
    )
    assert plan_from_bytes(plan_to_bytes(found)) == found
    assert found.version == 2
    assert [step.operation_id for step in found.irreversible] == ["op-4"]
    for broken in (b"{}", b"[]", b'{"id": 3}'):
        with pytest.raises(StoreError):
            plan_from_bytes(broken)


@pytest.mark.requirement("OBS-1", "OBS-7")
@pytest.mark.parametrize("status", [Status.COMPENSATING, Status.COMPENSATED, Status.COMPENSATION_FAILED])
def test_an_effect_is_told_of_as_it_stands_with_its_result(status: Status) -> None:
    seen = restated(Observation("c", "save", "1", Status.OK, data_json=b"1", user_text="This is done."), status)
    assert (seen.status, seen.data) == (status, 1)
    assert "undo" in seen.user_text
    assert seen.hint
