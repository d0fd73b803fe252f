"""Budgets at the gate: N means N, parallel calls never oversell, and nothing is held by what waits or has crashed."""

import asyncio
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from interlock import (
    Caller,
    Cost,
    Host,
    Limit,
    Observation,
    Origin,
    Principal,
    Result,
    ScopeKind,
    ToolCall,
    Unit,
    tool,
)
from interlock.core.tool import Vendor
from interlock.testing.fakes import FakeClock
from tests.gates import ALICE, ASKS, OPERATOR, READS, AnyTool, Shelf, asked, code, opened, save, search, used

SCOPES = [ScopeKind.RUN, ScopeKind.AGENT, ScopeKind.PRINCIPAL, ScopeKind.TENANT, ScopeKind.TOOL, ScopeKind.RUN_TOOL]
IN_RUN = Caller(ALICE, run="r1", task="t", origin=Origin(agent="a1"))


def paid(*, cost: Cost | None = None, **reported: int) -> AnyTool:
    @tool(effect="read", cost=cost or Cost(max_micros=10, tags=("ai",)), name="ask")
    async def ask(query: str) -> Result:
        """Ask something that costs."""
        return Result(query, **reported)  # type: ignore[arg-type]

    return ask


@pytest.mark.requirement("BUD-1", "BUD-2")
async def test_of_a_hundred_parallel_calls_under_a_limit_of_ten_ten_run(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, limits=[Limit(ScopeKind.TENANT, Unit.CALLS, 10)]) as gate:
        calls = [gate.call(search(str(index)), principal=ALICE) for index in range(100)]
        ends = [code(each) for each in await asyncio.gather(*calls)]
    assert (ends.count("ok"), ends.count("BUDGET_EXHAUSTED"), len(shelf.searched)) == (10, 90, 10)


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("scope", SCOPES)
async def test_a_limit_of_n_calls_lets_n_run_and_names_itself(scope: ScopeKind) -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, limits=[Limit(scope, Unit.CALLS, 3)]) as gate:
        seen = [await gate.propose(search(str(index)), IN_RUN) for index in range(4)]
        assert [code(each) for each in seen] == ["ok", "ok", "ok", "BUDGET_EXHAUSTED"]
        error = seen[-1].error
        assert error is not None
        assert {**error.details} == {
            "limit": 3, "unit": "calls", "scope": scope.value, "left": 0, "resets_at_us": None,
        }  # fmt: skip


@pytest.mark.requirement("BUD-1", "BUD-3")
@pytest.mark.parametrize(
    ("limit", "ask", "runs"),
    [
        (Limit(ScopeKind.TENANT, Unit.COST_MICROS, 30), paid(), 3),
        (Limit(ScopeKind.TENANT, Unit.COST_MICROS, 30), paid(cost_micros=2), 11),
        (Limit(ScopeKind.TAG, Unit.COST_MICROS, 25), paid(tokens=5), 2),
        (Limit(ScopeKind.TENANT, Unit.COST_MICROS, 0), paid(), 0),
    ],
)
async def test_cost_is_counted_as_reported_and_else_as_declared(limit: Limit, ask: AnyTool, runs: int) -> None:
    async with opened(":memory:", [ask], limits=[limit]) as gate:
        ends = [code(await gate.call(ToolCall("c", "ask", {"query": "x"}), principal=ALICE)) for _ in range(12)]
    assert ends == ["ok"] * runs + ["BUDGET_EXHAUSTED"] * (12 - runs)


@pytest.mark.requirement("BUD-1")
async def test_every_proposal_counts_and_a_replay_does_not(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        for call in (search(), ToolCall("c", "search", "{"), ToolCall("c", "nope", "{}"), save(), save(), save()):
            await gate.call(call, principal=ALICE, run="r1")
        assert await used(gate, "calls") == 4


@pytest.mark.requirement("BUD-1")
async def test_identical_operations_of_a_run_are_limited(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, limits=[Limit(ScopeKind.OPERATION, Unit.CALLS, 2)]) as gate:
        ends = [code(await gate.call(search(), principal=ALICE, run="r1")) for _ in range(3)]
        assert ends == ["ok", "ok", "REPEATED_CALL"]
        assert code(await gate.call(search("y"), principal=ALICE, run="r1")) == "ok"


@pytest.mark.requirement("BUD-1")
async def test_a_rate_queues_to_the_deadline_and_then_says_when_to_come_back(gate_path: str) -> None:
    clock, shelf = FakeClock(), Shelf()
    rate = Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 2, window_s=60)
    async with opened(gate_path, shelf.tools, limits=[rate], host=Host(clock=clock)) as gate:
        start_us = clock.now_us()
        for expected_s in (0, 0, 60, 60):
            assert code(await gate.call(search(), principal=ALICE)) == "ok"
            assert (clock.now_us() - start_us) // 1_000_000 == expected_s
        seen = await gate.propose(search(), Caller(ALICE, deadline_ms=30_000))
        assert (code(seen), len(shelf.searched)) == ("RATE_LIMITED", 4)
        assert seen.retry_after_s == pytest.approx(60, abs=1)


@pytest.mark.requirement("BUD-1")
async def test_calls_at_once_queue_and_the_place_is_free_again_when_one_ends(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    one = Limit(ScopeKind.TENANT, Unit.CONCURRENT, 1)
    async with opened(gate_path, shelf.tools, limits=[one]) as gate:
        first = asyncio.create_task(gate.call(save(), principal=ALICE, task="t"))
        await shelf.started.wait()
        late = await gate.propose(search(), Caller(ALICE, deadline_ms=20))
        assert code(late) == "RATE_LIMITED"
        queued = asyncio.create_task(gate.call(search(), principal=ALICE))
        asyncio.get_running_loop().call_soon(shelf.open.set)
        assert [code(await first), code(await queued)] == ["ok", "ok"]
        await used(gate, "concurrent")


@pytest.mark.requirement("BUD-1", "BUD-2")
async def test_two_gates_on_one_file_never_run_more_at_once_than_is_allowed(tmp_path: Path) -> None:
    path, running, most = str(tmp_path / "gate.db"), [0], [0]

    @tool(effect="read", name="work")
    async def work(who: str) -> str:
        """Work for some steps."""
        running[0] += 1
        most[0] = max(most[0], running[0])
        for _ in range(20):
            await checkpoint()
        running[0] -= 1
        return who

    limits = [Limit(ScopeKind.TOOL, Unit.CONCURRENT, 2, shared=True)]
    async with opened(path, [work], limits=limits) as one, opened(path, [work], None, limits=limits) as two:
        calls = [
            gate.call(ToolCall(f"c{index}", "work", {"who": f"{index}"}), principal=Principal(f"t{index % 3}", "x"))
            for index in range(10)
            for gate in (one, two)
        ]
        assert [code(each) for each in await asyncio.gather(*calls)] == ["ok"] * 20
        assert (most, await used(one, "calls", tenant="*")) == ([2], 20)


@pytest.mark.requirement("BUD-1")
async def test_a_vendors_quota_is_one_for_all_tenants_and_none_sees_what_others_used(gate_path: str) -> None:
    @tool(effect="read", name="ask", vendor=Vendor("cloud"))
    async def ask(query: str) -> str:
        """Ask the vendor."""
        return query

    quota = Limit(ScopeKind.VENDOR, Unit.CALLS, 3, 60, shared=True)
    policy = 'permit (principal, action, resource) unless { principal.id == "eve" };'
    host = Host(clock=FakeClock())
    async with opened(gate_path, [ask], policy, limits=[quota], host=host) as gate:

        async def ends(tenant: str, who: str, times: int) -> list[Observation]:
            caller = Caller(Principal(tenant, who), deadline_ms=1_000)
            return [await gate.propose(ToolCall("c", "ask", {"query": "x"}), caller) for _ in range(times)]

        assert [code(each) for each in await ends("acme", "eve", 5)] == ["TOOL_NOT_FOUND"] * 5
        assert [code(each) for each in await ends("acme", "alice", 2)] == ["ok", "ok"]
        seen = await ends("other", "bob", 3)
        assert [code(each) for each in seen] == ["ok", "RATE_LIMITED", "RATE_LIMITED"]
        error = seen[-1].error
        assert error is not None
        assert error.details.keys() == {"unit", "scope", "resets_at_us"}
        assert await used(gate, "calls", tenant="*") == 3
        assert all(scope.kind is not ScopeKind.VENDOR for scope, _ in await gate.usage("other"))


@pytest.mark.requirement("BUD-2", "APR-1")
async def test_what_waits_for_a_person_holds_nothing() -> None:
    shelf = Shelf()
    limits = [Limit(ScopeKind.TENANT, Unit.CONCURRENT, 1), Limit(ScopeKind.TENANT, Unit.CALLS, 2)]
    async with opened(":memory:", shelf.tools, ASKS, limits=limits) as gate:
        await asked(gate)
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        assert code(await gate.call(search(), principal=ALICE)) == "BUDGET_EXHAUSTED"


@pytest.mark.requirement("BUD-2")
async def test_counters_survive_a_restart_and_a_refused_call_holds_nothing(tmp_path: Path) -> None:
    path, shelf, limit = str(tmp_path / "gate.db"), Shelf(), Limit(ScopeKind.TENANT, Unit.CALLS, 3)
    async with opened(path, shelf.tools, READS, limits=[limit]) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_NOT_FOUND"
    async with opened(path, shelf.tools, None, limits=[limit]) as gate:
        assert [code(await gate.call(search(), principal=ALICE)) for _ in range(2)] == ["ok", "BUDGET_EXHAUSTED"]


@pytest.mark.requirement("BUD-3", "BUD-2")
async def test_what_recovery_finds_to_have_happened_is_charged_its_maximum(gate_path: str) -> None:
    @tool(effect="write", key=["to"], cost=Cost(max_micros=7), reconcile=lambda: "done", output_schema=None)
    async def send(to: str) -> str:
        """Send something."""
        raise TimeoutError

    async with opened(gate_path, [send]) as gate:
        assert (
            code(await gate.call(ToolCall("c1", "send", {"to": "x"}), principal=ALICE, task="t")) == "OUTCOME_UNKNOWN"
        )
        assert (await gate.recovery.recover()).found_out == 1
        assert await used(gate, "cost_micros") == 7


@pytest.mark.requirement("BUD-1", "AUD-4")
async def test_a_purge_gives_nobody_a_window_that_goes_on_once_more(tmp_path: Path) -> None:
    shelf, clock, path = Shelf(), FakeClock(), str(tmp_path / "gate.db")
    limits = [Limit(ScopeKind.TENANT, Unit.CALLS, 1, window_s=30 * 86_400)]
    for expected in ("ok", "RATE_LIMITED", "RATE_LIMITED"):
        async with opened(path, shelf.tools, limits=limits, host=Host(clock=clock)) as gate:
            assert code(await gate.call(search(), principal=ALICE)) == expected
            clock.advance(10)
            await gate.audit.purge(clock.now_us(), by=OPERATOR)
