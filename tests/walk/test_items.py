"""A call about several items that is done in part: what is open is done later, what was done never again."""

from pathlib import Path
from typing import Any

import pytest

from interlock import (
    Context,
    Gate,
    Item,
    ItemState,
    Observation,
    Result,
    SpecInvalid,
    Status,
    ToolCall,
    ToolFault,
    tool,
)
from interlock.core.errors import InterlockError
from interlock.core.tool import ErrorContract
from interlock.runtime.taking_over import lost_call
from tests.gates import ALICE, ASKS, BOB, OPERATOR, AnyTool, code, granted, opened, records, used

pytestmark = [pytest.mark.requirement("EXEC-9")]

BUSY = ErrorContract("BUSY", nothing_happened=True)


class Post:
    """Sends mails; those to `away` cannot be delivered now. `lost` raises after it has sent all.

    `denies` has a look-up that never finds any.
    """

    def __init__(self, *, denies: bool = False) -> None:
        self.denies = denies
        self.sent: list[str] = []
        self.away = {"bob", "carol"}
        self.busy = False
        self.lost = False

    def tools(self, *, resumes: bool = True) -> tuple[AnyTool, ...]:
        more: dict[str, Any] = {"reconcile": lambda mail: None} if self.denies else {}

        @tool(effect="write", owner="eng", key=["mail"], resumes=resumes, errors=[BUSY], **more)
        async def send(mail: str, to: list[str], context: Context) -> Result:
            """Send a mail to several people."""
            if self.busy:
                raise ToolFault("BUSY", "The post is busy.")
            wanted = context.open_items or tuple(to)
            self.sent += [each for each in wanted if each not in self.away]
            if self.lost:
                raise ConnectionError
            return Result(
                {"mail": mail},
                items=tuple(
                    Item(each, ItemState.OPEN, "mailbox full")
                    if each in self.away
                    else Item(each, ItemState.DONE, "delivered")
                    for each in wanted
                ),
            )

        return (send,)


async def send(gate: Gate) -> Observation:
    call = ToolCall("c", "send", {"mail": "m1", "to": ["alice", "bob", "carol"]})
    return await gate.call(call, principal=ALICE, task="t")


def stand(seen: Observation) -> dict[str, str]:
    return {each.name: f"{each.state}: {each.says}".removesuffix(": ") for each in seen.items}


async def test_only_what_is_open_is_done_when_it_is_proposed_again(gate_path: str) -> None:
    post = Post()
    async with opened(gate_path, post.tools()) as gate:
        seen = await send(gate)
        assert (seen.status, seen.open_items) == (Status.PARTIAL, ("bob", "carol"))
        assert stand(seen) == {"alice": "done: delivered", "bob": "open: mailbox full", "carol": "open: mailbox full"}
        post.away = {"carol"}
        seen = await send(gate)
        assert (seen.status, seen.open_items, seen.replayed) == (Status.PARTIAL, ("carol",), False)
        post.away = set()
        seen = await send(gate)
        assert (seen.status, stand(seen)) == (Status.OK, dict.fromkeys(["alice", "bob", "carol"], "done: delivered"))
        assert post.sent == ["alice", "bob", "carol"]
        again = await send(gate)
        assert (again.replayed, stand(again)) == (True, stand(seen))
        assert {each["subject"] for each in await records(gate, "call.claimed")} == {seen.operation_id}
        assert await used(gate, "calls") == 3


async def test_a_try_that_fails_as_a_whole_leaves_it_partial_with_why(gate_path: str) -> None:
    post = Post()
    async with opened(gate_path, post.tools()) as gate:
        await send(gate)
        post.busy = True
        seen = await send(gate)
        assert (seen.status, stand(seen)["bob"], stand(seen)["alice"]) == (
            Status.PARTIAL,
            "open: The post is busy.",
            "done: delivered",
        )
        post.busy, post.away = False, set()
        assert (await send(gate)).status is Status.OK
        assert post.sent == ["alice", "bob", "carol"]


async def test_a_try_whose_outcome_is_lost_is_unknown_and_not_tried_again(gate_path: str) -> None:
    post = Post()
    async with opened(gate_path, post.tools()) as gate:
        await send(gate)
        post.lost, post.away = True, set()
        assert code(await send(gate)) == "OUTCOME_UNKNOWN"
        post.lost = False
        assert code(await send(gate)) == "OUTCOME_UNKNOWN"
        assert post.sent == ["alice", "bob", "carol"]


async def test_it_goes_on_in_another_process(tmp_path: Path) -> None:
    post, path = Post(), str(tmp_path / "gate.db")
    async with opened(path, post.tools()) as gate:
        await send(gate)
    post.away = set()
    async with opened(path, post.tools(), None) as gate:
        assert (await send(gate)).status is Status.OK
    assert post.sent == ["alice", "bob", "carol"]


async def test_going_on_takes_an_approval_of_its_own() -> None:
    post = Post()
    call = ToolCall("c", "send", {"mail": "m1", "to": ["alice", "bob", "carol"]})
    async with opened(":memory:", post.tools(), ASKS) as gate:
        approval = await granted(gate, call)
        assert (await gate.approvals.resume(approval, by=BOB)).status is Status.PARTIAL
        post.away = set()
        assert code(await gate.approvals.resume(approval, by=BOB)) in ("APPROVAL_MISMATCH", "partial")
        assert post.sent == ["alice"]
        assert (await gate.approvals.resume(await granted(gate, call), by=BOB)).status is Status.OK
    assert post.sent == ["alice", "bob", "carol"]


async def test_a_tool_that_does_not_resume_replays_what_was_done_in_part() -> None:
    post = Post()
    async with opened(":memory:", post.tools(resumes=False)) as gate:
        seen = await send(gate)
        post.away = set()
        again = await send(gate)
        assert (again.replayed, stand(again), post.sent) == (True, stand(seen), ["alice"])


async def test_what_resumes_has_to_be_told_what_is_open() -> None:
    @tool(effect="write", owner="eng", key=["mail"], resumes=True)
    async def send(mail: str) -> None:
        """Send a mail."""

    with pytest.raises(SpecInvalid, match="Context"):
        async with opened(":memory:", (send,)):
            raise InterlockError("it opened")


def test_a_read_has_nothing_to_resume() -> None:
    with pytest.raises(SpecInvalid, match="resume"):

        @tool(effect="read", resumes=True)
        async def look(mail: str, context: Context) -> None:
            """Look."""


async def test_what_was_done_stays_done_where_the_last_try_is_closed_as_not_happened(gate_path: str) -> None:
    post = Post()
    async with opened(gate_path, post.tools()) as gate:
        await send(gate)
        post.lost = True
        lost = await send(gate)
        assert (code(lost), stand(lost)["alice"]) == ("OUTCOME_UNKNOWN", "done: delivered")
        how = {"by": OPERATOR, "happened": False, "evidence": "I looked."}
        seen = await gate.recovery.close(str(lost.operation_id), **how)  # type: ignore[arg-type]
        assert isinstance(seen, Observation)
        assert (seen.status, seen.open_items) == (Status.PARTIAL, ("bob", "carol"))
        post.lost, post.away = False, set()
        assert (await send(gate)).status is Status.OK
        assert post.sent == ["alice", "bob", "carol"]


async def test_a_look_up_that_finds_nothing_does_not_free_the_key_of_what_was_done_in_part(gate_path: str) -> None:
    post = Post(denies=True)
    async with opened(gate_path, post.tools()) as gate:
        await send(gate)
        post.lost = True
        lost = await send(gate)
        told = await gate.recovery.look_up(str(lost.operation_id), by=OPERATOR)
        assert code(told) == "OUTCOME_UNKNOWN"
        post.lost, post.away = False, set()
        assert code(await send(gate)) == "OUTCOME_UNKNOWN"
        assert post.sent == ["alice"]


async def test_a_process_that_dies_while_it_goes_on_leaves_known_what_was_done(gate_path: str) -> None:
    post = Post()
    async with opened(gate_path, post.tools()) as gate:
        first = await send(gate)
        found = await gate._world.recovery.find("acme", str(first.operation_id))
        assert found is not None
        seen = lost_call(found)  # what recovery stores of a claimed call whose worker is gone
        assert {each.name: each.state for each in seen.items} == {
            "alice": ItemState.DONE,
            "bob": ItemState.UNKNOWN,
            "carol": ItemState.UNKNOWN,
        }
