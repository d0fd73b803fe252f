"""What a call, a look-up and a change of one tool cost does not grow with the tools: counted in lines that run."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

import pytest

from interlock import Caller, Gate, ToolCall
from interlock.core.agents import AgentTools, ToolUse
from interlock.core.call import Origin
from interlock.core.functions import Declaration
from interlock.core.lifecycle import Lifecycle
from interlock.core.tool import SHARED, ToolSpec
from interlock.runtime.views import Views
from interlock.store.memory import MemoryStore
from interlock.testing.store_values import Values
from tests.gates import ALICE, OPERATOR, READS, Shelf, code, opened
from tests.steps import steps, steps_of
from tests.unit.runtime.test_views import stored

FEW, MANY = 10, 400


class Clone:
    """A tool under another name."""

    def __init__(self, original: Declaration, number: int) -> None:
        self.code = original.code
        self._spec, self._number = original.spec(), number

    def spec(self, *, tenant: str = SHARED, source: str = "python") -> ToolSpec:
        return replace(self._spec, name=f"search_{self._number}", tenant=tenant, source=source)


def clones(count: int) -> Iterable[Declaration]:
    shelf = Shelf()
    return [*shelf.tools, *(Clone(shelf.search, number) for number in range(count))]


async def counted(work: Callable[[Gate], Awaitable[int]], count: int) -> int:
    async with opened(":memory:", clones(count), READS) as gate:  # type: ignore[arg-type]
        return await work(gate)


async def call(gate: Gate) -> int:
    async def once() -> None:
        assert code(await gate.call(ToolCall("c", "search_3", {"query": "x"}), principal=ALICE)) == "ok"

    for _ in range(2):
        await once()
    return await steps_of(once)


async def resolve(gate: Gate) -> int:
    catalogue = gate._views.current.catalogue
    digest = gate.catalogue.get("search_3").digest

    def find() -> None:
        assert catalogue.find("acme", "search_3") is not None
        assert catalogue.find("acme", "nothing") is None
        assert catalogue.pinned("acme", "search_3", digest=digest) is not None

    return steps(find)


async def freeze(gate: Gate) -> int:
    """Somebody freezes a tool, and the next call is refused for it."""
    for state in (Lifecycle.FROZEN, Lifecycle.AVAILABLE):
        await gate.catalogue.move("search_2", state, by=OPERATOR, reason="once, so that all is worked out")

    async def once() -> None:
        await gate._views.refresh()
        assert code(await gate.call(ToolCall("c", "search_2", {"query": "x"}), principal=ALICE)) == "TOOL_FROZEN"

    versions = await gate.catalogue.list_versions("search_2")
    frozen = [replace(each, state=Lifecycle.FROZEN) for each in versions]
    await gate._world.catalogue.publish(tuple(frozen), Values().event())
    return await steps_of(once)


@pytest.mark.requirement("SCALE-3")
@pytest.mark.parametrize("work", [call, resolve, freeze])
async def test_it_costs_the_same_among_few_and_among_many(work: Callable[[Gate], Awaitable[int]]) -> None:
    await counted(work, FEW)  # what is worked out once for a process
    assert await counted(work, MANY) <= 1.05 * await counted(work, FEW)


@pytest.mark.requirement("SCALE-3")
async def test_a_process_hears_of_what_another_published_without_a_look_at_the_rest() -> None:
    async def hearing(count: int) -> int:
        store, original = MemoryStore(), Shelf().search.spec()
        specs = [replace(original, name=f"search_{number}") for number in range(count)]
        await store.publish(tuple(map(stored, specs)), Values().event())
        views = Views(store, documents=store.documents, environment="")
        await views.refresh()
        await store.publish((stored(replace(original, name="search_more")),), Values().event())
        heard = await steps_of(views.refresh)
        assert len(views.current.catalogue.specs) == count + 1
        return heard

    await hearing(FEW)
    assert await hearing(MANY) <= 1.05 * await hearing(FEW)


async def test_an_import_of_many_tools_is_one_change_on_record() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        before = await gate._world.catalogue.epoch()
        original = Shelf().search.spec()
        specs = [replace(original, name=f"import_{number}") for number in range(FEW)]
        assert len(await gate.catalogue.register(specs, by=OPERATOR)) == FEW
        assert await gate._world.catalogue.epoch() == before + 1


async def page(gate: Gate) -> int:
    def list_one() -> None:
        found = gate.catalogue.page(Caller(ALICE), after="search_1", limit=5)
        assert (len(found.tools), found.after) == (5, found.tools[-1].spec.name)

    list_one()
    return steps(list_one)


async def invent(gate: Gate) -> int:
    async def once() -> None:
        assert code(await gate.call(ToolCall("c", "serch_1", {"query": "x"}), principal=ALICE)) == "TOOL_NOT_FOUND"

    await once()
    return await steps_of(once)


@pytest.mark.requirement("SCALE-3")
async def test_a_page_costs_the_same_among_few_and_among_many() -> None:
    await counted(page, FEW)
    assert await counted(page, MANY) <= 1.05 * await counted(page, FEW)


@pytest.mark.requirement("SCALE-3")
async def test_a_name_that_nobody_has_costs_no_more_once_there_are_many() -> None:
    await counted(invent, MANY)
    assert await counted(invent, 2 * MANY) <= 1.2 * await counted(invent, MANY)


async def freeze_here(gate: Gate) -> int:
    await gate.catalogue.freeze("search_1", by=OPERATOR, reason="once, so that all is worked out")

    async def once() -> None:
        await gate.catalogue.freeze("search_2", by=OPERATOR, reason="it is wrong")

    return await steps_of(once)


async def register(gate: Gate) -> int:
    spec = gate.catalogue.get("search_1").spec
    await gate.catalogue.register([replace(spec, name="more_1")], by=OPERATOR)

    async def once() -> None:
        await gate.catalogue.register([replace(spec, name="more_2"), replace(spec, version="2")], by=OPERATOR)

    return await steps_of(once)


async def promote(gate: Gate) -> int:
    spec = gate.catalogue.get("search_1").spec
    await gate.catalogue.register([replace(spec, version=each) for each in ("2", "3", "4")], by=OPERATOR)
    await gate.catalogue.promote("search_1", "3", by=OPERATOR, reason="once, so that all is worked out")

    async def once() -> None:
        await gate.catalogue.promote("search_1", "2", by=OPERATOR, reason="it is better")

    return await steps_of(once)


async def publish_agent(gate: Gate) -> int:
    async def save(name: str) -> None:
        agent = AgentTools(name, tenant="acme", tools=(ToolUse("search_1"), ToolUse("search_2")))
        await gate.agents.save(agent, by=OPERATOR, reason="it is needed")

    await save("one")
    return await steps_of(lambda: save("two"))


async def declare(gate: Gate) -> int:
    """What an agent with two tools of its own is offered."""
    await publish_agent(gate)
    caller = Caller(ALICE, origin=Origin(agent="one"))

    def once() -> None:
        found = gate.catalogue.declarations(caller, dialect="openai-chat")
        assert len(found.tools) == len(gate.catalogue.page(caller).tools) == 2

    once()
    return steps(once)


@pytest.mark.requirement("SCALE-3")
@pytest.mark.parametrize("work", [freeze_here, register, promote, publish_agent, declare])
async def test_an_operator_s_own_change_of_a_tool_costs_the_same_among_few_and_among_many(
    work: Callable[[Gate], Awaitable[int]],
) -> None:
    await counted(work, FEW)
    assert await counted(work, MANY) <= 1.05 * await counted(work, FEW)
