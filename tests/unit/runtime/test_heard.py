"""Agents and defaults that were heard of one by one are those that are read at once, at the cost of what changed."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.agents import AgentTools, ToolUse, agent_to_bytes
from interlock.core.default_versions import DefaultVersion, default_to_bytes
from interlock.core.documents import Document, DocumentKind
from interlock.core.journal import EventKind
from interlock.runtime.heard import Heard
from interlock.runtime.known import Routing
from interlock.store.memory import MemoryStore
from interlock.testing.store_values import Values
from tests.gates import ALICE, OPERATOR, READS, Shelf, code, opened, search
from tests.steps import steps_of

AGENT, DEFAULT = DocumentKind.AGENT, DocumentKind.DEFAULT


def default(name: str, version: str, revision: int = 1) -> Document:
    return Document("*", DEFAULT, name, revision, default_to_bytes(DefaultVersion(version)) if version else b"")


def agent(name: str, tool: str, revision: int = 1) -> Document:
    body = agent_to_bytes(AgentTools(name, tenant="*", tools=(ToolUse(tool),))) if tool else b""
    return Document("*", AGENT, name, revision, body)


async def save(store: MemoryStore, *documents: Document) -> None:
    await store.documents.save_documents(documents, Values().event(EventKind.DOCUMENT_SAVED))


def shown(routing: Routing) -> tuple[object, object]:
    return routing.agents, dict(routing.defaults)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abc"), st.sampled_from(["", "1", "2"])), max_size=8))
def test_heard_of_one_by_one_they_are_what_is_read_at_once(changes: list[tuple[bool, str, str]]) -> None:
    async def tried() -> None:
        store, revisions = MemoryStore(), dict[tuple[bool, str], int]()
        heard = Heard(store.documents)
        for is_agent, name, value in changes:
            revision = revisions[is_agent, name] = revisions.get((is_agent, name), 0) + 1
            await save(store, (agent if is_agent else default)(name, value, revision))
            before = dict(heard.routing().defaults)
            await heard.listen()
            anew = Heard(store.documents)
            await anew.listen()
            routing = heard.routing()
            assert shown(routing) == shown(anew.routing())
            changed = {place for place, each in routing.defaults.items() if before.get(place) != each}
            assert routing.moved is not None
            assert routing.moved >= changed | (before.keys() - routing.defaults.keys())
            heard.settled()
            assert heard.routing().moved == frozenset()

    asyncio.run(tried())


async def test_what_is_about_to_be_saved_is_seen_and_not_kept() -> None:
    heard = Heard(MemoryStore().documents)
    saving = heard.routing([default("a", "2"), agent("one", "a")])
    assert (saving.defaults["*", "a"].version, saving.moved) == ("2", {("*", "a")})
    assert [each.name for each in saving.agents] == ["one"]
    assert shown(heard.routing()) == ((), {})


class Answers(MemoryStore):
    """Documents that answer late: each time what was to be said at the time before."""

    def __init__(self, *answers: tuple[int, Document]) -> None:
        super().__init__()
        self._answers = [*answers]

    async def changed_documents(self, kind: DocumentKind, since: int) -> tuple[int, tuple[Document, ...]]:
        if kind is AGENT:
            return 0, ()
        epoch, found = self._answers.pop(0)
        return epoch, (found,)


async def test_what_is_older_than_what_was_heard_is_left() -> None:
    heard = Heard(Answers((2, default("a", "2", 2)), (1, default("a", "1"))))  # type: ignore[arg-type]
    for _ in range(2):
        await heard.listen()
    assert heard.routing().defaults["*", "a"].version == "2"


@pytest.mark.requirement("SCALE-3")
async def test_one_change_costs_the_same_among_few_defaults_and_among_many() -> None:
    async def cost(count: int) -> int:
        async with opened(":memory:", Shelf().tools, READS) as gate:
            found = [default(f"tool_{number}", "1") for number in range(count)]
            await gate._world.documents.save_documents(tuple(found), Values().event(EventKind.DOCUMENT_SAVED))
            await gate._views.refresh()
            await gate.catalogue.promote("search", "1", by=OPERATOR, reason="once, so that all is worked out")
            await gate.catalogue.freeze("search", by=OPERATOR, reason="once, so that all is worked out")

            async def once() -> None:
                await gate.catalogue.release("search", by=OPERATOR, reason="it is right")
                assert code(await gate.call(search(), principal=ALICE)) == "ok"

            return await steps_of(once)

    await cost(3)
    assert await cost(300) <= 1.05 * await cost(3)
