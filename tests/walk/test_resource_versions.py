"""An effect meets the version of its resource that it was meant for: as judged, as approved, as named by the call."""

import asyncio

import pytest

from interlock import Resource, SpecInvalid, ToolCall, tool
from tests.gates import ALICE, ASKS, BOB, AnyTool, code, opened

pytestmark = [pytest.mark.requirement("TOOL-8")]


class Desk:
    """One draft with a version. `moves_on`: how many looks it takes until somebody else has changed it."""

    def __init__(self) -> None:
        self.version: int | None = 1
        self.looks = 0
        self.moves_on = -1
        self.hangs = False
        self.saved: list[str] = []

    def resolve(self, draft: str) -> Resource:
        self.looks += 1
        if self.looks == self.moves_on:
            self.version = (self.version or 0) + 1
        return Resource("Draft", draft, None if self.version is None else str(self.version))

    async def resolve_slowly(self, draft: str) -> Resource:
        found = self.resolve(draft)
        if self.hangs and self.looks > 1:
            await asyncio.Event().wait()
        return found

    def tools(self) -> tuple[AnyTool, ...]:
        @tool(
            effect="write",
            owner="eng",
            key=["draft", "text"],
            resource=("Draft", "draft"),
            resolve=self.resolve_slowly,
            resource_version="seen",
            timeout_ms=200,
        )
        async def save(draft: str, text: str, seen: int | None = None) -> None:
            """Save a draft."""
            self.saved.append(text)

        return (save,)


def save(text: str = "new", **more: object) -> ToolCall:
    return ToolCall("c", "save", {"draft": "d", "text": text, **more})


async def test_what_changed_between_decision_and_effect_stops_it_and_nothing_ran(gate_path: str) -> None:
    desk = Desk()
    async with opened(gate_path, desk.tools()) as gate:
        desk.moves_on = 2
        seen = await gate.call(save(), principal=ALICE, task="t")
        assert (code(seen), seen.retryable, desk.saved) == ("PRECONDITION_FAILED", True, [])
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"
        assert desk.saved == ["new"]


@pytest.mark.parametrize(("named", "told"), [(1, "ok"), (2, "PRECONDITION_FAILED"), (None, "ok")])
async def test_the_version_that_a_call_names_has_to_be_the_one_that_is_there(named: int | None, told: str) -> None:
    desk = Desk()
    async with opened(":memory:", desk.tools()) as gate:
        seen = await gate.call(save(seen=named), principal=ALICE, task="t")
        assert code(seen) == told
        assert bool(desk.saved) is (told == "ok")
        if seen.error is not None:
            assert "at version 1" in seen.error.message


async def test_a_named_version_of_what_has_none_does_not_hold() -> None:
    desk = Desk()
    desk.version = None
    async with opened(":memory:", desk.tools()) as gate:
        assert code(await gate.call(save(seen=1), principal=ALICE, task="t")) == "PRECONDITION_FAILED"
        assert code(await gate.call(save("other"), principal=ALICE, task="t")) == "ok"


async def test_what_cannot_be_looked_at_in_time_is_not_touched() -> None:
    desk = Desk()
    desk.hangs = True
    async with opened(":memory:", desk.tools()) as gate:
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "PRECONDITION_FAILED"
        assert desk.saved == []


async def test_what_was_approved_for_one_version_is_not_done_to_another() -> None:
    desk = Desk()
    async with opened(":memory:", desk.tools(), ASKS) as gate:
        seen = await gate.call(save(), principal=ALICE, task="t")
        await gate.approvals.approve(str(seen.approval_id), by=BOB)
        desk.moves_on = desk.looks + 2
        assert code(await gate.approvals.resume(str(seen.approval_id), by=ALICE)) == "PRECONDITION_FAILED"
        assert desk.saved == []


def test_a_version_takes_a_resolver() -> None:
    with pytest.raises(SpecInvalid, match="resolver"):

        @tool(effect="write", owner="eng", resource=("Draft", "draft"), resource_version="seen")
        async def save(draft: str, seen: int) -> None:
            """Save a draft."""
