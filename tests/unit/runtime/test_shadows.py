"""A shadow judges and compares, never does an effect, never holds up or changes an answer, and is on record as one."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, Limit, PolicySource, Principal, tool
from interlock.core.agents import Canary, ShadowRule, ToolUse
from interlock.core.budget import ScopeKind, Unit
from interlock.core.errors import ActRefused, DocumentChanged, StoreError
from interlock.core.journal import EventKind
from interlock.core.shadow import Output
from interlock.core.tool import Cost, Vendor
from interlock.ports import Document, DocumentKind
from interlock.runtime import shadows
from interlock.runtime.shadows import ShadowReport
from interlock.store.memory import MemoryStore
from interlock.testing.models import ScriptedModel
from tests.agents import CLERK, called, person, saved, saves
from tests.gates import ALICE, ALL, AUDITOR, OPERATOR, AnyTool, code, opened, records, save, search, used
from tests.runs import on_store

pytestmark = pytest.mark.requirement("REG-6")

SHADOWED = ToolUse("search", "1", shadow=ShadowRule("2"))
Read = Callable[[str], Any]
MODEL = ScriptedModel([])


def reads(one: Read, two: Read, **more: Any) -> list[AnyTool]:
    """The read `search` in two versions."""
    return [_read("1", one, **more), _read("2", two, **more)]


def _read(version: str, does: Read, **more: Any) -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version, **more)
    async def search(query: str) -> Any:
        """Search."""
        found = does(query)
        return await found if asyncio.iscoroutine(found) else found

    return search


async def report(gate: Gate, tool_: str = "search") -> ShadowReport:
    await gate.shadows.flush()
    return await gate.shadows.report(CLERK, tool_, version="2", by=AUDITOR)


async def tried(*tools: AnyTool, times: int = 3, use: ToolUse = SHADOWED, policy: str = ALL) -> ShadowReport:
    """What the shadow of some calls shows, which all go well in the version in use."""
    async with opened(":memory:", tools, policy) as gate:
        await saved(gate, use)
        for number in range(times):
            assert code(await called(gate, call=search(str(number)))) == "ok"
        return await report(gate)


async def test_reads_that_give_the_same_and_reads_that_do_not_are_told_apart() -> None:
    found = await tried(*reads(str, lambda query: query if query != "1" else "else"))
    assert found.tally.outputs == {"equal": 2, "different": 1}
    assert [(each.call, each.output) for each in found.tally.samples] == [("c1", Output.DIFFERENT)]
    assert found.proposal.promote is False


async def test_an_effect_is_judged_and_never_done_by_its_shadow() -> None:
    done: list[str] = []

    def effect(version: str, schema: str) -> AnyTool:
        scope: dict[str, Any] = {"done": done, "version": version}
        head = f"async def save(note: str, text: str{schema}) -> str:"
        exec(f"{head}\n    'Save.'\n    done.append(version)\n    return note", scope)
        return tool(effect="write", owner="eng", name="save", version=version, key=["note"])(scope["save"])

    async with opened(":memory:", [effect("1", ""), effect("2", ", why: str")]) as gate:
        await saved(gate, ToolUse("save", "1", shadow=ShadowRule("2")))
        for number in range(5):
            assert code(await called(gate, call=save(f"n{number}"), task="t")) == "ok"
        found = await report(gate, "save")
    assert done == ["1"] * 5
    assert found.tally.refused == {"TOOL_ARGUMENT_INVALID": 5}
    assert found.tally.outputs == {"not_run": 5}


async def test_what_policy_would_refuse_or_ask_of_the_new_version_is_told() -> None:
    denies = ALL + 'forbid (principal, action == Action::"search", resource) when { context.tool.version == "2" };'
    found = await tried(*reads(str, str), policy=denies)
    assert (found.tally.refused, found.tally.outputs) == ({"PERMISSION_DENIED": 3}, {"not_run": 3})
    asks = """
    permit (principal, action, resource) when { context.tool.version == "1" };
    @approval("approver") permit (principal, action, resource) when { context.tool.version == "2" };
    """
    found = await tried(*reads(str, str), policy=asks)
    assert (found.tally.asks, found.tally.refused, found.tally.compared) == (3, {}, 0)


async def test_a_shadow_that_fails_or_hangs_changes_and_holds_up_no_answer() -> None:
    hangs = asyncio.Event()

    async def hang() -> str:
        await hangs.wait()
        return "late"

    def fails(query: str) -> str:
        raise ConnectionError(query)  # as if what is behind it could not be reached

    async with opened(":memory:", reads(str, lambda query: hang() if query == "hang" else fails(query))) as gate:
        await saved(gate, SHADOWED)
        for query in ("hang", *map(str, range(10))):
            seen = await called(gate, call=search(query))
            assert (code(seen), seen.data, seen.version) == ("ok", query, "1")
        assert gate.health.is_quiet
        hangs.set()
        found = await report(gate)
    assert (found.tally.of(Output.FAILED), found.tally.of(Output.DIFFERENT)) == (10, 1)
    assert found.proposal.promote is False


async def test_a_shadow_is_on_record_as_one_and_takes_nothing_of_anybodys_budget() -> None:
    limits = [
        Limit(scope, Unit.CALLS, 3)
        for scope in (ScopeKind.PRINCIPAL, ScopeKind.TENANT, ScopeKind.AGENT, ScopeKind.TOOL)
    ]
    async with opened(":memory:", reads(str, str), limits=limits) as gate:
        await saved(gate, SHADOWED)
        for number in range(3):
            assert code(await called(gate, call=search(str(number)), run="r")) == "ok"
        found = await report(gate)
        assert found.tally.of(Output.EQUAL) == 3
        assert code(await called(gate, run="r")) == "BUDGET_EXHAUSTED"
        told = [each for each in await records(gate, "call.settled") if each["door"] == "shadow"]
        assert [(each["version"], each["run"], each["agent"]) for each in told] == [("2", None, CLERK)] * 3
        usage = dict(await gate.usage("acme"))
        (own,) = [each for scope, each in usage.items() if scope.id == f"shadow {CLERK}"]
        assert own.used.calls == 3
        assert await used(gate, "calls") > 0


async def test_nobody_who_calls_himself_a_task_like_a_shadows_escapes_his_limits() -> None:
    async with opened(":memory:", reads(str, str), limits=[Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 2)]) as gate:
        await saved(gate, SHADOWED)
        assert code(await called(gate)) == "ok"
        await report(gate)
        seen = [code(await called(gate, task=f"shadow {CLERK}")) for _ in range(3)]
    assert seen == ["ok", "BUDGET_EXHAUSTED", "BUDGET_EXHAUSTED"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"external": True}, "it reaches outside"),
        ({"locks": ["{query}"]}, "a lock, a place, money"),
        ({"concurrency": 1}, "a lock, a place, money"),
        ({"cost": Cost(5)}, "a lock, a place, money"),
        ({"vendor": Vendor("cloud")}, "a lock, a place, money"),
    ],
)
async def test_a_read_that_would_take_something_of_others_is_judged_and_not_run(more: Any, why: str) -> None:
    ran: list[str] = []

    def two(query: str) -> str:
        ran.append(query)
        return query

    found = await tried(*reads(str, two, **more))
    assert ran == []
    assert any(why in each for each in found.tally.why)


async def test_whose_version_in_use_is_the_one_on_trial_has_no_shadow() -> None:
    async with opened(":memory:", reads(str, str)) as gate:
        await saved(gate, replace(SHADOWED, canary=Canary("2", 1000)))
        assert (await called(gate)).version == "2"
        assert (await report(gate)).tally.calls == 0


async def test_what_is_not_to_be_compared_is_not_run() -> None:
    found = await tried(*reads(str, str), use=replace(SHADOWED, shadow=ShadowRule("2", compare=False)))
    assert found.tally.why == {"the agent says not to compare": 3}


async def test_a_version_that_is_gone_is_told_as_refused(tmp_path: Path) -> None:
    path, tools = str(tmp_path / "gate.db"), reads(str, str)
    async with opened(path, tools) as gate:
        await saved(gate, SHADOWED)
    async with opened(path, tools[:1]) as gate:
        assert code(await called(gate)) == "ok"
        assert (await report(gate)).tally.refused == {"TOOL_UNAVAILABLE": 1}


async def test_of_more_shadows_than_may_be_on_their_way_only_the_number_is_kept() -> None:
    hangs = asyncio.Event()

    async def hang() -> str:
        await hangs.wait()
        return "x"

    async with opened(":memory:", reads(str, lambda query: hang())) as gate:
        await saved(gate, SHADOWED)
        for _ in range(shadows.AT_ONCE + 5):
            assert code(await called(gate)) == "ok"
        hangs.set()
        found = await report(gate)
    assert (found.tally.calls, found.tally.missed) == (shadows.AT_ONCE, 5)


async def test_what_hangs_does_not_hold_up_the_end_and_what_was_shown_outlives_it(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")

    async def hang() -> str:
        await asyncio.Event().wait()
        return ""

    tools = reads(str, lambda query: hang() if query == "hang" else query)
    async with opened(path, tools) as gate:
        await saved(gate, SHADOWED)
        await called(gate, call=search("a"))
        await gate.shadows.flush()
        await called(gate, call=search("hang"))
    async with opened(path, tools) as one, opened(path, tools) as other:
        await called(one, call=search("b"))
        await called(other, call=search("c"))
        await asyncio.gather(one.shadows.flush(), other.shadows.flush())
        found = await report(one)
        assert found.tally.of(Output.EQUAL) == 3
        assert len(await records(one, "shadow.kept")) >= 3


async def test_what_is_written_at_the_same_time_by_others_is_added_to_and_lost_by_nobody() -> None:
    store = MemoryStore()
    async with on_store(store, MODEL, reads(str, str)) as gate:
        await saved(gate, SHADOWED)
        save_documents, tries = store.documents.save_documents, list[int]()

        async def overtaken(*given: Any) -> int:
            tries.append(1)
            if len(tries) < 3:
                raise DocumentChanged("somebody else")
            return await save_documents(*given)

        store.documents.save_documents = overtaken  # type: ignore[method-assign]
        await called(gate)
        assert (await report(gate)).tally.of(Output.EQUAL) == 1
        assert len(tries) == 3


async def test_what_a_shadow_has_shown_is_read_by_auditors_and_operators_of_the_tenant() -> None:
    async with opened(":memory:", reads(str, str)) as gate:
        await saved(gate, SHADOWED)
        await called(gate)
        with pytest.raises(ActRefused):
            await gate.shadows.report(CLERK, "search", version="2", by=ALICE)
        assert (await gate.shadows.report(CLERK, "search", version="9", by=OPERATOR)).tally.calls == 0


async def test_what_cannot_be_read_is_not_written_over() -> None:
    async with opened(":memory:", reads(str, str)) as gate:
        await saved(gate, SHADOWED)
        name = "\x1f".join([CLERK, "search", "2"])
        event = gate._records.act(EventKind.SHADOW_KEPT, "acme", {"subject": "search"})
        await gate._world.documents.save_documents((Document("acme", DocumentKind.SHADOW, name, 1, b"?"),), event)
        await called(gate)
        with pytest.raises(StoreError):
            await report(gate)
        gate.shadows._pending.clear()


async def test_a_policy_that_reads_the_run_is_judged_with_it_and_nothing_is_run_without_it() -> None:
    rule = 'forbid (principal, action, resource) when { context has run && context.run.tools.contains("x") };'
    async with opened(":memory:", reads(str, str), [PolicySource("p", ALL + rule)]) as gate:
        await saved(gate, SHADOWED)
        assert code(await called(gate, run="r")) == "ok"
        found = await report(gate)
    assert found.tally.why == {"policy reads the run, which a shadow has none of": 1}


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_of_ten_thousand_calls_shares_hold_assignment_sticks_and_no_effect_is_done_twice() -> None:
    store = MemoryStore()
    await _simulated(10_000, lambda tools: on_store(store, ScriptedModel([]), tools))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_of_some_hundred_calls_the_same_holds(kind: str, tmp_path: Path) -> None:
    store, path = MemoryStore(), str(tmp_path / "gate.db")
    opens = (lambda tools: opened(path, tools)) if kind == "sqlite" else (lambda tools: on_store(store, MODEL, tools))
    await _simulated(400, opens)


async def _simulated(calls: int, opens: Callable[[list[AnyTool]], AbstractAsyncContextManager[Gate]]) -> None:
    """A canary of 200 in 1000 and a shadow beside it, over a restart in the midst."""
    done: list[str] = []
    tools = [*saves("1", "2", ran=done), *reads(str, str)]
    use = ToolUse("save", "1", canary=Canary("2", 200), shadow=ShadowRule("2"))
    had: dict[str, str] = {}
    people = calls // 4
    for half in range(2):
        async with opens(tools) as gate:
            if not half:
                await saved(gate, use, SHADOWED)
            for number in range(half, calls, 2):
                await _one(gate, number, person(number % people), had)
            effects, read = await report(gate, "save"), await report(gate)
    expected = sum(1 for number in range(calls) if number % 10)
    assert len(done) == expected
    assert effects.tally.calls + effects.tally.missed == done.count("1")
    assert (effects.tally.refused, effects.tally.compared) == ({}, 0)
    assert read.tally.outputs == {"equal": calls - expected}
    got = sum(version == "2" for version in had.values())
    assert abs(got - len(had) * 0.2) < 4.5 * (len(had) * 0.2 * 0.8) ** 0.5


async def _one(gate: Gate, number: int, who: Principal, had: dict[str, str]) -> None:
    """An effect, or each tenth time a read; nobody's version of the effect ever changes."""
    if number % 10:
        seen = await called(gate, who, call=save(f"n{number}"), task=f"t{number}")
        assert had.setdefault(who.id, seen.version) == seen.version
    else:
        assert code(await called(gate, who, call=search(str(number)))) == "ok"
    if not number % 20:
        await gate.shadows.flush()
