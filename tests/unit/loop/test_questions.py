"""The question that stands is the last of a chain of edits, of the same run; a void one without one stands no more."""

from dataclasses import replace
from typing import Any, cast

import pytest

from interlock.core.approval import Approval, ApprovalState
from interlock.loop.questions import replacement, standing
from interlock.loop.view import RunView
from interlock.ports import Approvals
from tests.unit.core.call_cases import approval, operation

VIEW = RunView("acme", "r")


class Kept:
    """Approvals that there are."""

    def __init__(self, *found: Approval) -> None:
        self._found = {each.id: each for each in found}

    async def approval(self, _: str, approval_id: str) -> tuple[Approval, Any] | None:
        return (self._found[approval_id], None) if approval_id in self._found else None

    async def approvals(self, *_: object) -> tuple[Approval, ...]:
        return tuple(self._found.values())


def question(name: str, *, replaces: str | None = None, is_void: bool = False, run: str = "r") -> Approval:
    state = ApprovalState.VOID if is_void else ApprovalState.PENDING
    return replace(approval(operation()), id=name, replaces=replaces, state=state, run=run)


@pytest.mark.parametrize(
    ("found", "stands"),
    [
        ([], None),
        ([question("a")], "a"),
        ([question("a", is_void=True)], None),
        ([question("a", is_void=True), question("b", replaces="a")], "b"),
        ([question("a", is_void=True), question("b", replaces="a", is_void=True), question("c", replaces="b")], "c"),
        ([question("a", is_void=True), question("b", replaces="a", run="another")], None),
    ],
)
async def test_the_last_of_a_chain_stands(found: list[Approval], stands: str | None) -> None:
    assert await standing(cast(Approvals, Kept(*found)), VIEW, asked="a") == stands


async def test_what_replaces_a_question_is_of_the_same_run() -> None:
    void = question("a", is_void=True)
    approvals = cast(Approvals, Kept(void, question("x", replaces="a", run="another"), question("b", replaces="a")))
    found = await replacement(approvals, VIEW, void=void)
    assert found is not None
    assert found.id == "b"
