"""Probes of real tools at the gate: reads alone, by a principal of their own, on record, and never more than is let."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, Host, Limit, PolicySource, Principal, Resource, tool
from interlock.core.errors import ActRefused
from interlock.core.example import ExampleKind, Expected, ToolExample
from interlock.core.observation import Status
from interlock.core.probe import TAKEN_S, ProbeRule
from interlock.core.readiness import Tally
from interlock.core.tool import Document
from interlock.runtime.health import HealthState
from interlock.runtime.probes import PROBES_MAX
from interlock.settings import ProbeActs
from interlock.testing.fakes import FakeClock
from tests.gates import ALICE, ALL, OPERATOR, opened, records, used

PROBED = '@id("probe") permit (principal in Group::"probe", action in Action::"read", resource);'


@dataclass
class Counter:
    """A tool that is declared a read; `writes` says whether it is one."""

    writes: bool = False
    version: int = 1
    notes: list[str] = field(default_factory=list)
    tools: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        def at_version(title: str) -> Resource:
            return Resource("Note", title, version=str(self.version))

        @tool(effect="read", owner="eng", resource=("Note", "title"), resolve=at_version)
        async def peek(title: str) -> str:
            """Look at one note."""
            if self.writes:
                self.version += 1
                self.notes.append(title)
            return title

        @tool(effect="read", owner="eng")
        async def list_notes() -> list[str]:
            """List all notes."""
            return [*self.notes]

        @tool(effect="write", owner="eng")
        async def add(title: str) -> str:
            """Add a note."""
            raise AssertionError("an effect is never probed")

        self.tools = (peek, list_notes, add)


def probe(**changes: Any) -> ToolExample:
    plain: dict[str, Any] = {
        "name": "p",
        "tool": "peek",
        "kind": ExampleKind.TYPICAL,
        "expected": Expected(status=Status.OK, data=Document.of("n1")),
        "arguments": Document.of({"title": "n1"}),
        "probe": True,
        "every": "1h",
    }
    return ToolExample(**{**plain, **changes})


@asynccontextmanager
async def gate_of(
    counter: Counter, *probes: ToolExample, policy: str = PROBED, host: Host | None = None, **settings: Any
) -> AsyncIterator[Gate]:
    sources = [PolicySource("test", f"{policy}\n")]
    async with opened(":memory:", counter.tools, sources, host=host, **settings) as gate:
        await gate.examples.publish(probes or [probe()], by=OPERATOR)
        yield gate


@pytest.mark.requirement("REG-14")
async def test_a_read_that_is_one_passes_and_is_called_twice_as_the_principal_probe() -> None:
    async with gate_of(Counter()) as gate:
        [found] = await gate.probes.run_due()
        assert (found.record.findings, found.degraded, found.proposes) == ((), False, "")
        calls = await records(gate, "call.settled")
        assert [(each["principal"], each["door"], each["tool"]) for each in calls] == [("probe", "probe", "peek")] * 2
        [record] = await records(gate, "tool.probed")
        assert (record["passed"], record["probe"]) == (True, "p")
        assert [(each["subject"], each["probe"]) for each in await records(gate, "tool.probing")] == [("peek", "p")]


class Slow(Counter):
    """One whose calls stand still after `started` until they are let."""

    def __post_init__(self) -> None:
        self.started, self.open, self.calls = asyncio.Event(), asyncio.Event(), 0

        @tool(effect="read", owner="eng")
        async def peek(title: str) -> str:
            """Look at one note."""
            self.calls += 1
            self.started.set()
            await self.open.wait()
            return title

        self.tools = (peek,)


@pytest.fixture(params=["sqlite", "postgres"])
def kept_at(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that other processes find."""
    return str(request.getfixturevalue("postgres_url")) if request.param == "postgres" else str(tmp_path / "gate.db")


@pytest.mark.requirement("REG-14")
async def test_one_that_is_due_is_made_by_one_process_which_is_left_to_it_for_a_while(
    kept_at: str, tmp_path: Path
) -> None:
    slow, clock = Slow(), FakeClock(now_us=1_000_000_000)
    host = Host(key_folder=tmp_path, clock=clock)
    async with (
        opened(kept_at, slow.tools, PROBED, host=host) as one,
        opened(kept_at, slow.tools, None, host=host) as two,
    ):
        await one.examples.publish([probe()], by=OPERATOR)
        first = asyncio.create_task(one.probes.run_due())
        await slow.started.wait()
        assert await two.probes.run_due() == ()
        slow.open.set()
        assert [each.record.passed for each in await first] == [True]
        assert (await two.probes.run_due(), slow.calls) == ((), 2)
        clock.advance(3_601)
        made = await asyncio.gather(*(gate.probes.run_due() for gate in (one, two) * 3))
        assert (sum(map(len, made)), slow.calls) == (1, 4)


@pytest.mark.requirement("REG-14")
async def test_one_whose_tool_is_not_here_is_told_and_left_to_a_process_that_has_it(tmp_path: Path) -> None:
    counter, path, host = Counter(), str(tmp_path / "gate.db"), Host(key_folder=tmp_path)
    async with opened(path, counter.tools, PROBED, host=host) as one, opened(path, [], None, host=host) as two:
        await one.examples.publish([probe()], by=OPERATOR)
        [lost] = await two.probes.run_due()
        assert [each.rule for each in lost.record.findings] == [ProbeRule.REFUSED]
        assert [each.record.passed for each in await one.probes.run_due()] == [True]


@pytest.mark.requirement("REG-14")
async def test_those_whose_tools_are_not_here_keep_no_place_of_those_whose_are(tmp_path: Path) -> None:
    counter, path, host = Counter(), str(tmp_path / "gate.db"), Host(key_folder=tmp_path)
    peek = next(each for each in counter.tools if each.spec().name == "peek")
    async with opened(path, counter.tools, PROBED, host=host) as one, opened(path, [peek], None, host=host) as two:
        elsewhere = probe(tool="list_notes", expected=Expected(status=Status.OK), arguments=Document.of({}))
        lost = [replace(elsewhere, name=f"lost {number}") for number in range(PROBES_MAX)]
        await one.examples.publish([*lost, probe()], by=OPERATOR)
        assert "peek" in [each.example.tool for each in await two.probes.run_due() if each.record.passed]


@pytest.mark.requirement("REG-14")
async def test_one_whose_process_died_is_due_again_after_a_while(gate_path: str) -> None:
    clock = FakeClock(now_us=1_000_000_000)
    async with opened(gate_path, Counter().tools, PROBED, host=Host(clock=clock)) as gate:
        await gate.examples.publish([probe()], by=OPERATOR)
        assert await gate.probes._take_on(probe())  # and dies
        clock.advance(TAKEN_S - 1)
        assert await gate.probes.run_due() == ()
        clock.advance(1)
        assert len(await gate.probes.run_due()) == 1


@pytest.mark.requirement("REG-14")
async def test_one_that_the_end_of_its_gate_cut_off_is_made_at_the_next_opening(tmp_path: Path) -> None:
    slow, path, clock = Slow(), str(tmp_path / "gate.db"), FakeClock(now_us=1_000_000_000)
    host = Host(key_folder=tmp_path, clock=clock)
    async with opened(path, slow.tools, PROBED, host=host, probe_every_s=0.01) as gate:
        await gate.examples.publish([probe()], by=OPERATOR)
        await asyncio.wait_for(slow.started.wait(), 10)
    slow.open.set()
    async with opened(path, slow.tools, None, host=host) as gate:
        told = await records(gate, "tool.probing")
        assert [each.get("cut_off", False) for each in told] == [False, True]
        assert [each.record.passed for each in await gate.probes.run_due()] == [True]


@pytest.mark.requirement("REG-14")
async def test_a_gate_makes_them_by_itself_where_its_settings_say_so_and_no_more_once_it_is_closed() -> None:
    slow = Slow()
    async with opened(":memory:", slow.tools, PROBED, probe_every_s=0.01) as gate:
        await gate.examples.publish([probe()], by=OPERATOR)
        await asyncio.wait_for(slow.started.wait(), 10)
    assert slow.calls == 1
    quiet = Slow()
    async with opened(":memory:", quiet.tools, PROBED) as gate:
        assert gate._timers._tasks[1:] == []


@pytest.mark.requirement("REG-14")
async def test_a_declared_read_that_writes_is_found_degraded_and_proposed_for_quarantine_and_never_closed() -> None:
    counter = Counter(writes=True)
    async with gate_of(counter, probe(watch={"list_notes": Document.of({})})) as gate:
        [found] = await gate.probes.run_due()
        assert [each.rule for each in found.record.findings] == [ProbeRule.MOVED, ProbeRule.WROTE]
        assert (found.degraded, found.proposes) == (True, "quarantine peek 1")
        spec = counter.tools[0].spec()
        assert gate.health.state(spec) is HealthState.DEGRADED
        assert gate.catalogue.get("peek", tenant="acme").state == "available"
        readiness = await gate.examples.readiness(gate.catalogue.get("peek", tenant="acme").digest, by=OPERATOR)
        assert readiness is not None
        assert readiness.probes == Tally(0, 1)
        counter.writes = False
        [again] = await gate.probes.run(by=OPERATOR)
        assert again.record.passed
        assert gate.health.state(spec) is HealthState.HEALTHY


@pytest.mark.requirement("REG-14")
async def test_one_probe_that_passes_again_takes_back_no_mark_that_another_stands_for() -> None:
    counter = Counter(writes=True)
    spec, wrong = counter.tools[0].spec(), Expected(status=Status.OK, data=Document.of("other"))
    async with gate_of(counter, probe(name="a", expected=wrong), probe(name="p")) as gate:
        await gate.probes.run(by=OPERATOR)
        counter.writes = False
        for _ in range(2):
            assert [each.record.passed for each in await gate.probes.run(by=OPERATOR)] == [False, True]
            assert gate.health.state(spec) is HealthState.DEGRADED
        await gate.examples.publish([probe(name="a"), probe(name="p")], by=OPERATOR)
        assert [each.record.passed for each in await gate.probes.run(by=OPERATOR)] == [True, True]
        assert gate.health.state(spec) is HealthState.HEALTHY


@pytest.mark.requirement("REG-14")
async def test_where_the_settings_only_report_a_failing_probe_changes_nothing() -> None:
    counter = Counter(writes=True)
    async with gate_of(counter, probe_acts=ProbeActs.REPORT) as gate:
        [found] = await gate.probes.run_due()
        assert (found.record.passed, found.degraded) == (False, False)
        assert gate.health.state(counter.tools[0].spec()) is HealthState.HEALTHY


async def test_what_an_operator_said_of_a_tool_stays() -> None:
    counter = Counter(writes=True)
    async with gate_of(counter) as gate:
        spec = counter.tools[0].spec()
        gate.health.set(spec.tenant, spec.name, state=HealthState.MAINTENANCE)
        [found] = await gate.probes.run_due()
        assert (found.degraded, gate.health.state(spec)) == (False, HealthState.MAINTENANCE)


@pytest.mark.requirement("REG-14")
async def test_no_effect_is_ever_probed_nor_watched() -> None:
    adding = probe(name="a", tool="add")
    watching = probe(watch={"add": Document.of({"title": "x"})})
    async with gate_of(Counter(), adding, watching, policy=ALL) as gate:
        found = await gate.probes.run(by=OPERATOR)
        assert [[each.rule for each in one.record.findings] for one in found] == [[ProbeRule.NO_READ]] * 2
        assert [(one.degraded, one.proposes) for one in found] == [(False, "")] * 2
        assert await records(gate, "call.settled") == []


@pytest.mark.requirement("REG-14")
async def test_a_probe_that_policy_does_not_let_calls_nothing_and_blames_no_tool() -> None:
    counter = Counter()
    async with gate_of(counter, policy='@id("eng") permit (principal in Group::"eng", action, resource);') as gate:
        [found] = await gate.probes.run_due()
        assert [each.rule for each in found.record.findings] == [ProbeRule.REFUSED]
        assert gate.health.state(counter.tools[0].spec()) is HealthState.HEALTHY
        assert await records(gate, "call.settled") == []


@pytest.mark.requirement("REG-14")
async def test_probes_have_a_budget_of_their_own() -> None:
    limits = [Limit(scope="principal", unit="calls", amount=3)]
    async with gate_of(Counter(), probe(), probe(name="q"), limits=limits) as gate:
        first, second = await gate.probes.run(by=OPERATOR)
        assert [first.record.passed, *(each.rule for each in second.record.findings)] == [True, ProbeRule.REFUSED]
        assert "BUDGET_EXHAUSTED" in second.record.findings[0].says
        assert not second.degraded
        assert await used(gate, "calls") > 0


@pytest.mark.requirement("REG-14")
async def test_a_probe_is_made_again_once_its_time_has_come() -> None:
    clock = FakeClock()
    async with gate_of(Counter(), probe(), probe(name="asked", every=""), host=Host(clock=clock)) as gate:
        assert [each.example.name for each in await gate.probes.run_due()] == ["p"]
        assert await gate.probes.run_due() == ()
        clock.advance(3_600)
        assert len(await gate.probes.run_due()) == 1
        history = await gate.probes.history("peek", "p", by=OPERATOR)
        assert history is not None
        assert len(history.records) == 2
        assert len(await gate.probes.run(["peek"], by=OPERATOR)) == 2
        assert await gate.probes.run(["none"], by=OPERATOR) == ()


async def test_only_operators_ask_for_probes_and_only_what_was_published_is_probed() -> None:
    async with gate_of(Counter(), probe(probe=False, every="")) as gate:
        with pytest.raises(ActRefused):
            await gate.probes.run(by=ALICE)
        for by in (ALICE, Principal("globex", "greta", groups=frozenset({"operator"}))):
            with pytest.raises(ActRefused):
                await gate.probes.history("peek", "p", by=by)
        assert await gate.probes.run(by=OPERATOR) == ()


@pytest.mark.requirement("REG-14")
async def test_of_probes_that_are_made_at_once_every_result_is_kept(tmp_path: Path) -> None:
    counter, count = Counter(), 6
    async with opened(str(tmp_path / "gate.db"), counter.tools, [PolicySource("test", PROBED)]) as gate:
        await gate.examples.publish([probe(), probe(name="q", expected=Expected(status=Status.FAILED))], by=OPERATOR)
        await asyncio.gather(*(gate.probes.run(by=OPERATOR) for _ in range(count)))
        for name in ("p", "q"):
            history = await gate.probes.history("peek", name, by=OPERATOR)
            assert history is not None
            assert len(history.records) == count
        assert len(await records(gate, "tool.probed")) == 2 * count
        (version,) = await gate.catalogue.list_versions("peek", tenant="acme")
        found = await gate.examples.readiness(version.digest, by=OPERATOR)
        assert found is not None
        assert found.probes == Tally(1, 1)
