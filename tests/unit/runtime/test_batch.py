"""Calls proposed together: each gets its own result in order, effects take turns, no failure is another's."""

import asyncio

import pytest

from interlock import ErrorContract, ToolCall, ToolFault, tool
from tests.gates import ALICE, AnyTool, Shelf, code, opened, records, save, search, settled

SAVING_ASKS = """
permit (principal, action, resource);
@approval("approver") permit (principal, action == Action::"save", resource);
"""


class Bench:
    """Tools that note when they begin and end; a `meet` needs as many at once as it was told."""

    def __init__(self, together: int = 1) -> None:
        self.log: list[str] = []
        self.meeting = asyncio.Barrier(together)
        self.tools = (self._meet(), self._write(), self._fail(), self._after())

    def _meet(self) -> AnyTool:
        @tool(effect="read", name="meet")
        async def meet(name: str) -> str:
            """Meet the others."""
            await self.meeting.wait()
            return name

        return meet

    def _write(self) -> AnyTool:
        @tool(effect="write", name="write", locks=["file:{path}"])
        async def write(path: str, text: str) -> str:
            """Write a file."""
            self.log.append(f"+{text}")
            await asyncio.wait([asyncio.ensure_future(asyncio.Event().wait())], timeout=0.001)
            self.log.append(f"-{text}")
            return text

        return write

    def _fail(self) -> AnyTool:
        @tool(effect="write", name="fail", errors=[ErrorContract("no", nothing_happened=True)])
        async def fail(how: str) -> None:
            """Fail."""
            if how == "cancelled":
                raise asyncio.CancelledError
            raise ToolFault("no") if how == "no" else ValueError(how)

        return fail

    def _after(self) -> AnyTool:
        @tool(effect="write", name="after", depends_on=["write", "fail", "save"])
        async def after() -> None:
            """Come after the others."""
            self.log.append("after")

        return after


def call(id: str, tool_name: str, /, **arguments: str) -> ToolCall:  # noqa: A002 - as the call names it
    return ToolCall(id, tool_name, dict(arguments))


@pytest.mark.requirement("EXEC-4")
async def test_reads_run_beside_each_other(gate_path: str) -> None:
    bench = Bench(together=3)
    async with opened(gate_path, bench.tools) as gate:
        seen = await gate.call_many([call(f"c{n}", "meet", name=str(n)) for n in range(3)], principal=ALICE, run="r")
    assert [(each.call_id, each.data) for each in seen] == [("c0", "0"), ("c1", "1"), ("c2", "2")]


@pytest.mark.requirement("EXEC-4")
async def test_effects_under_one_lock_run_in_the_proposed_order(gate_path: str) -> None:
    bench = Bench()
    async with opened(gate_path, bench.tools) as gate:
        calls = [
            call(f"c{n}", "write", path=path, text=str(n)) for n, path in enumerate(("a.md", "./a.md", "x/../a.md"))
        ]
        seen = await gate.call_many(calls, principal=ALICE, run="r")
    assert [code(each) for each in seen] == ["ok"] * 3
    assert bench.log == ["+0", "-0", "+1", "-1", "+2", "-2"]


@pytest.mark.requirement("EXEC-4", "CALL-8")
async def test_one_failure_neither_cancels_nor_hides_its_siblings(gate_path: str) -> None:
    async with opened(gate_path, Bench().tools) as gate:
        calls = [call("c1", "meet", name="a"), call("c2", "fail", how="cancelled"), call("c3", "fail", how="boom"),
                 ToolCall("c4", "meet", "{broken"), call("c5", "nope"), call("c6", "meet", name="b")]  # fmt: skip
        seen = await gate.call_many(calls, principal=ALICE, run="r")
        assert [each.call_id for each in seen] == [f"c{n}" for n in range(1, 7)]
        ends = ["ok", "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN", "INVALID_JSON", "TOOL_NOT_FOUND", "ok"]
        assert [code(each) for each in seen] == ends
        ids = [each["call_id"] for each in await records(gate) if each["event"] in ("call.settled", "call.refused")]
        assert sorted(ids) == [f"c{n}" for n in range(1, 7)]


@pytest.mark.requirement("EXEC-4")
async def test_what_depends_on_a_call_that_waits_or_failed_is_not_run(gate_path: str) -> None:
    shelf, bench = Shelf(), Bench()
    async with opened(gate_path, [*shelf.tools, *bench.tools], SAVING_ASKS) as gate:
        for before in (save(id="c1"), call("c1", "fail", how="no")):
            seen = await gate.call_many([before, call("c2", "after")], principal=ALICE, run=before.name)
            assert code(seen[1]) == "DEPENDENCY_NOT_MET"
        seen = await gate.call_many(
            [call("c1", "write", path="a", text="1"), call("c2", "after")], principal=ALICE, run="r"
        )
        assert code(seen[1]) == "ok"
    assert bench.log == ["+1", "-1", "after"]


@pytest.mark.requirement("IDEM-1", "APR-5")
async def test_two_equal_calls_of_one_turn_are_two_effects_and_a_turn_given_again_replays() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools) as gate:
        calls = [save(id="a"), save(id="b")]
        for replayed in (False, True):
            seen = await gate.call_many(calls, principal=ALICE, run="r", turn=4)
            assert [(code(each), each.replayed) for each in seen] == [("ok", replayed)] * 2
    assert len(shelf.saved) == 2


@pytest.mark.requirement("CALL-8")
async def test_a_cancelled_batch_leaves_one_record_for_each_call(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, shelf.tools) as gate:
        calls = [save("a", id="c1"), save("a", id="c2"), save("a", id="c3"), search(id="c4")]
        batch = asyncio.create_task(gate.call_many(calls, principal=ALICE, run="r"))
        await shelf.started.wait()
        batch.cancel()
        await asyncio.wait([batch])
        shelf.open.set()
        await settled(gate)
        ended = [each for each in await records(gate) if each["event"] in ("call.settled", "call.refused")]
        assert sorted(each["call_id"] for each in ended) == ["c1", "c2", "c3", "c4"]
        assert {(each["tool"], each["effect"]) for each in ended} == {("save", "write"), ("search", "read")}
        codes = {each["call_id"]: each.get("code") for each in ended}
        assert (codes["c1"], codes["c2"], codes["c3"]) == ("OUTCOME_UNKNOWN", "CANCELLED", "CANCELLED")
    assert batch.cancelled()


async def test_no_calls_make_no_observations() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        assert await gate.call_many([], principal=ALICE) == ()


@pytest.mark.requirement("CALL-4")
async def test_a_hidden_tool_whose_need_failed_is_told_like_one_that_is_not_there() -> None:
    bench = Bench()
    only = 'permit (principal, action == Action::"fail", resource);'
    hidden = only + 'permit (principal, action == Action::"after", resource) when { principal.groups.contains("x") };'
    async with opened(":memory:", bench.tools, hidden) as gate:
        told = []
        for name in ("after", "afterwards"):
            calls = [call("c1", "fail", how="no"), call("c2", name)]
            seen = (await gate.call_many(calls, principal=ALICE, run=name))[1]
            assert seen.error is not None
            told.append((code(seen), seen.error.message.replace(name, "?"), seen.error.details, seen.version))
        assert told[0] == told[1]
        assert told[0][0] == "TOOL_NOT_FOUND"
        (record, _) = await records(gate, "call.refused", call="c2")
        assert (record["tool"], record["code"], record["told"]) == ("after", "TOOL_NOT_ALLOWED", "TOOL_NOT_FOUND")


@pytest.mark.requirement("EXEC-4")
async def test_what_needs_a_call_that_makes_no_operation_is_not_run() -> None:
    bench = Bench()
    async with opened(":memory:", bench.tools) as gate:
        calls = [ToolCall("c1", "write", "{broken"), call("c2", "after")]
        seen = await gate.call_many(calls, principal=ALICE, run="r")
        assert [code(each) for each in seen] == ["INVALID_JSON", "DEPENDENCY_NOT_MET"]
    assert bench.log == []


@pytest.mark.requirement("CALL-8", "EXEC-4")
@pytest.mark.parametrize("name", [None, 7, ["save"], {"save": 1}])
@pytest.mark.parametrize("sibling", [save(), search()])
async def test_a_call_named_by_no_text_is_refused_and_hides_no_sibling(name: object, sibling: ToolCall) -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools) as gate:
        odd = ToolCall("odd", name, {})  # type: ignore[arg-type]  # as a model's JSON may have it
        seen = await gate.call_many([odd, sibling, odd], principal=ALICE, run="r")
        assert [code(each) for each in seen] == ["TOOL_ARGUMENT_INVALID", "ok", "TOOL_ARGUMENT_INVALID"]
        assert len(await records(gate, "call.refused", call="odd")) == 2
