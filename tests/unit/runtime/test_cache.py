"""Results of reads that are given again: to whom, until when, and that those who ask at once have one read for all."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from interlock import (
    CacheRule,
    Context,
    Gate,
    Host,
    Limit,
    Principal,
    PrincipalKind,
    Resource,
    ToolCall,
    ToolFault,
    tool,
)
from interlock.core.budget import ScopeKind, Unit
from interlock.testing.simulation import SimulatedClock
from tests.gates import ALICE, ALL, BOB, OPERATOR, AnyTool, code, opened, records, save

pytestmark = [pytest.mark.requirement("CACHE-1")]


class Library:
    """Notes that can be read, kept and lost, with the reads counted. `open` holds reads up."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {"n1": "old"}
        self.reads = 0
        self.faults: list[BaseException] = []
        self.after: list[BaseException] = []
        self.open = asyncio.Event()
        self.open.set()
        self.started = asyncio.Event()

    def tools(
        self, rule: CacheRule | None = None, *, secrets: tuple[str, ...] = (), version: str = "1"
    ) -> tuple[AnyTool, ...]:
        more: dict[str, Any] = {"cache": rule or CacheRule(60)} if version == "1" else {}

        @tool(effect="read", owner="eng", resource=("Note", "note"), secrets=secrets, version=version, **more)
        async def load(note: str, context: Context) -> str | None:
            """Load a note."""
            self.reads += 1
            self.started.set()
            text = self.notes.get(note)
            await self.open.wait()
            if self.faults:
                raise self.faults.pop()
            return f"{context.principal.id}:{text}"

        @tool(effect="write", owner="eng", name="save", key=["note"], resource=("Note", "note"))
        async def save(note: str, text: str) -> None:
            """Save a note."""
            self.notes[note] = text
            if self.after:
                raise self.after.pop()

        @tool(effect="write", owner="eng", key=["mail"], resource=("Mail", "mail"))
        async def send(mail: str) -> None:
            """Send a mail."""

        @tool(effect="write", owner="eng", key=["what"])
        async def anything(what: str) -> None:
            """Do something of which nothing is said."""

        return (load, save, send, anything)


def load(note: str = "n1", *, id: str = "c1") -> ToolCall:  # noqa: A002 - as the call names it
    return ToolCall(id, "load", {"note": note})


async def ask(
    gate: Gate, call: ToolCall | None = None, *, by: Principal = ALICE, run: str | None = None
) -> tuple[object, bool] | str:
    """What is told: the data, and whether it was read before; or the code of what went wrong."""
    seen = await gate.call(call or load(), principal=by, task="t", run=run)
    return code(seen) if seen.error is not None else (seen.data, seen.cached_s is not None)


async def test_a_read_is_given_again_to_the_same_principal_with_its_age_and_on_record(gate_path: str) -> None:
    library, clock = Library(), SimulatedClock()
    async with opened(gate_path, library.tools(), host=Host(clock=clock)) as gate:
        assert await ask(gate) == ("alice:old", False)
        clock.now_s += 7
        seen = await gate.call(load(id="c2"), principal=ALICE)
        assert (seen.call_id, seen.data, seen.cached_s, seen.replayed) == ("c2", "alice:old", 7.0, False)
        assert library.reads == 1
        [told] = await records(gate, "call.cached")
        assert (told["call_id"], told["cached_s"], told["status"]) == ("c2", 7.0, "ok")
        assert seen.receipt is not None


async def test_a_tool_that_does_not_opt_in_is_read_each_time() -> None:
    reads = []

    @tool(effect="read", owner="eng", name="load")
    async def plain(note: str) -> str:
        """Load a note."""
        reads.append(note)
        return "new"

    async with opened(":memory:", (plain,)) as gate:
        assert [await ask(gate), await ask(gate)] == [("new", False), ("new", False)]
        assert reads == ["n1", "n1"]


@pytest.mark.parametrize(
    "other",
    [
        BOB,
        replace(ALICE, tenant="umbrella"),
        replace(ALICE, groups=frozenset({"eng", "more"})),
        replace(ALICE, claims={"region": "eu"}),
        Principal("acme", "alice", PrincipalKind.AGENT, frozenset({"eng"}), acting_for="carol"),
    ],
    ids=["another person", "another tenant", "other groups", "other claims", "for somebody else"],
)
async def test_nobody_is_given_what_was_read_for_another(other: Principal) -> None:
    library = Library()
    async with opened(":memory:", library.tools()) as gate:
        await ask(gate)
        assert await ask(gate, by=other) == (f"{other.id}:old", False)


async def test_other_credentials_read_anew() -> None:
    library, held = Library(), {"token": "first-token-0001"}

    class Safe:
        async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
            return dict(held)

    async with opened(":memory:", library.tools(secrets=("token",)), host=Host(secrets=Safe())) as gate:
        assert [await ask(gate), await ask(gate)] == [("alice:old", False), ("alice:old", True)]
        held["token"] = "second-token-0002"
        assert await ask(gate) == ("alice:old", False)


async def test_it_is_read_anew_once_its_time_is_over() -> None:
    library, clock = Library(), SimulatedClock()
    async with opened(":memory:", library.tools(), host=Host(clock=clock)) as gate:
        await ask(gate)
        clock.now_s += 59
        assert await ask(gate) == ("alice:old", True)
        clock.now_s += 1
        assert await ask(gate) == ("alice:old", False)


async def test_an_effect_on_what_it_reads_ends_it(gate_path: str) -> None:
    library = Library()
    async with opened(gate_path, library.tools()) as gate:
        assert [await ask(gate), await ask(gate)] == [("alice:old", False), ("alice:old", True)]
        await gate.call(save("n1", "new"), principal=BOB, task="other")
        assert [await ask(gate), await ask(gate)] == [("alice:new", False), ("alice:new", True)]


async def test_an_effect_of_another_process_ends_it(tmp_path: object) -> None:
    library, path = Library(), f"{tmp_path}/two.db"
    async with opened(path, library.tools()) as gate, opened(path, library.tools()) as other:
        assert [await ask(gate), await ask(gate)] == [("alice:old", False), ("alice:old", True)]
        await other.call(save("n1", "new"), principal=BOB, task="other")
        assert await ask(gate) == ("alice:new", False)


async def test_an_effect_on_something_else_leaves_it_and_one_on_who_knows_what_ends_it() -> None:
    library = Library()
    async with opened(":memory:", library.tools()) as gate:
        await ask(gate)
        await gate.call(ToolCall("c2", "send", {"mail": "m"}), principal=ALICE, task="t")
        assert await ask(gate) == ("alice:old", True)
        await gate.call(ToolCall("c3", "anything", {"what": "x"}), principal=ALICE, task="t")
        assert await ask(gate) == ("alice:old", False)


async def test_a_read_may_name_what_it_reads() -> None:
    library = Library()
    async with opened(":memory:", library.tools(CacheRule(60, ("Mail",)))) as gate:
        await ask(gate)
        await gate.call(save("n1", "new"), principal=ALICE, task="t")
        assert await ask(gate) == ("alice:old", True)
        await gate.call(ToolCall("c2", "send", {"mail": "m"}), principal=ALICE, task="t")
        assert await ask(gate) == ("alice:new", False)


async def test_while_it_is_unknown_whether_an_effect_happened_nothing_is_given_again(gate_path: str) -> None:
    library = Library()
    async with opened(gate_path, library.tools()) as gate:
        await ask(gate)
        library.after.append(ConnectionError())
        seen = await gate.call(save("n1", "new"), principal=ALICE, task="t")
        assert code(seen) == "OUTCOME_UNKNOWN"
        assert [await ask(gate), await ask(gate)] == [("alice:new", False), ("alice:new", False)]
        await gate.recovery.close(str(seen.operation_id), by=OPERATOR, happened=True, evidence="I looked.")
        assert [await ask(gate), await ask(gate)] == [("alice:new", False), ("alice:new", True)]


async def test_what_was_read_while_an_effect_was_on_its_way_is_not_kept() -> None:
    library = Library()
    async with opened(":memory:", library.tools()) as gate:
        library.open.clear()
        reading = asyncio.ensure_future(ask(gate))
        await library.started.wait()
        await gate.call(save("n1", "new"), principal=ALICE, task="t")
        library.open.set()
        assert await reading == ("alice:old", False)
        assert await ask(gate) == ("alice:new", False)


async def test_an_error_is_never_kept() -> None:
    library = Library()
    async with opened(":memory:", library.tools()) as gate:
        library.faults.append(ToolFault("read first"))
        assert await ask(gate) == "TOOL_EXCEPTION"
        assert await ask(gate) == ("alice:old", False)


async def test_those_who_ask_at_once_have_one_read_for_all() -> None:
    library = Library()
    async with opened(":memory:", library.tools()) as gate:
        library.open.clear()
        asking = [asyncio.ensure_future(ask(gate)) for _ in range(20)]
        await library.started.wait()
        library.open.set()
        told = await asyncio.gather(*asking)
        assert (library.reads, sorted(told, key=str)) == (1, [("alice:old", False)] + [("alice:old", True)] * 19)


async def test_who_waits_for_a_read_that_is_given_up_reads_itself() -> None:
    library = Library()
    async with opened(":memory:", library.tools()) as gate:
        library.open.clear()
        first, second = (asyncio.ensure_future(ask(gate)) for _ in range(2))
        await library.started.wait()
        first.cancel()
        library.open.set()
        assert await second == ("alice:old", False)
        assert library.reads == 2


async def test_a_policy_that_has_changed_is_asked_before_anything_is_given_again() -> None:
    library = Library()
    async with opened(":memory:", library.tools(), ALL) as gate:
        await ask(gate)
        [source] = await gate.policies.sources()
        forbids = '@id("no") forbid (principal == User::"alice", action, resource);'
        await gate.policies.save([replace(source, text=ALL + forbids)], by=OPERATOR)
        assert await ask(gate) in ("PERMISSION_DENIED", "TOOL_NOT_FOUND")


async def test_what_is_given_again_counts_as_a_call_and_costs_nothing() -> None:
    library = Library()
    limits = [Limit(ScopeKind.RUN, Unit.CALLS, 2)]
    async with opened(":memory:", library.tools(), limits=limits) as gate:
        told = [await ask(gate, run="r") for _ in range(3)]
        assert told == [("alice:old", False), ("alice:old", True), "BUDGET_EXHAUSTED"]


async def test_no_more_is_kept_than_may_be_and_the_least_used_goes_first() -> None:
    library = Library()
    async with opened(":memory:", library.tools(), cache_bytes_max=5_000) as gate:
        for note in ("a", "b", "c", "d"):
            await ask(gate, load(note))
        assert [(await ask(gate, load(note)))[1] for note in ("d", "a")] == [True, False]
        assert gate._cache._bytes <= 5_000


async def test_what_it_is_found_by_counts_as_kept() -> None:
    library = Library()
    async with opened(":memory:", library.tools(), cache_bytes_max=50_000) as gate:
        for number in range(10):
            await ask(gate, load(str(number) * 20_000))
        assert sum(len(key.arguments) for key in gate._cache._entries) <= 50_000
        assert await ask(gate, load("9" * 20_000)) == ("alice:None", True)
        assert await ask(gate, load("8" * 60_000)) == ("alice:None", False)
        assert await ask(gate, load("8" * 60_000)) == ("alice:None", False)


async def test_a_policy_that_another_process_has_changed_is_asked_before_anything_is_given_again(
    tmp_path: object,
) -> None:
    library, path = Library(), f"{tmp_path}/two.db"
    async with opened(path, library.tools()) as gate, opened(path, library.tools()) as other:
        assert [await ask(gate), await ask(gate)] == [("alice:old", False), ("alice:old", True)]
        [source] = await other.policies.sources()
        forbids = '@id("no") forbid (principal == User::"alice", action, resource);'
        await other.policies.save([replace(source, text=ALL + forbids)], by=OPERATOR)
        assert await ask(gate) in ("PERMISSION_DENIED", "TOOL_NOT_FOUND")


async def test_an_effect_of_a_process_whose_version_of_the_read_is_not_cached_ends_it(tmp_path: object) -> None:
    library, path = Library(), f"{tmp_path}/two.db"
    async with opened(path, library.tools()) as gate, opened(path, library.tools(version="2")) as other:
        assert [await ask(gate), await ask(gate)] == [("alice:old", False), ("alice:old", True)]
        await other.call(save("n1", "new"), principal=BOB, task="other")
        assert await ask(gate) == ("alice:new", False)


async def test_a_resource_that_its_resolver_finds_at_another_version_is_read_anew() -> None:
    version = "1"

    def look_up(note: str) -> Resource:
        return Resource("Note", note, version=version)

    @tool(effect="read", owner="eng", name="load", resource=("Note", "note"), resolve=look_up, cache=CacheRule(60))
    async def read(note: str) -> str:
        """Load a note."""
        return version

    async with opened(":memory:", (read,)) as gate:
        assert [await ask(gate), await ask(gate)] == [("1", False), ("1", True)]
        version = "2"  # by somebody who does not ask the gate
        assert [await ask(gate), await ask(gate)] == [("2", False), ("2", True)]


async def test_nothing_is_kept_while_an_effect_is_on_its_way_that_began_before_anything_was_cached(
    tmp_path: object,
) -> None:
    library, path = Library(), f"{tmp_path}/two.db"
    started, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="write", owner="eng", name="save", key=["note"], resource=("Note", "note"))
    async def slow(note: str, text: str) -> None:
        """Save a note."""
        started.set()
        await go_on.wait()
        library.notes[note] = text

    async with opened(path, (slow,)) as old:
        saving = asyncio.ensure_future(old.call(save("n1", "new"), principal=BOB, task="other"))
        await started.wait()
        async with opened(path, library.tools()[:1]) as gate:
            assert [await ask(gate), await ask(gate)] == [("alice:old", False), ("alice:old", False)]
            go_on.set()
            await saving
            assert [await ask(gate), await ask(gate)] == [("alice:new", False), ("alice:new", True)]
