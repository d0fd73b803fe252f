"""The view of a process: only code that is here, in the version published last, with the policies that go with it."""

from dataclasses import replace
from pathlib import Path

import pytest

from interlock import Caller, Gate, PolicySource
from interlock.core.errors import PolicyInvalid
from interlock.core.lifecycle import Lifecycle
from interlock.core.tool import ToolSpec
from interlock.ports import Registered
from interlock.runtime.catalogue import _registered
from interlock.runtime.views import Views
from interlock.store.memory import MemoryStore
from interlock.testing.store_values import Values
from tests.gates import ALICE, ALL, Shelf, opened

ONE = Shelf().search.spec()
TWO = replace(ONE, version="2")


def stored(spec: ToolSpec, state: Lifecycle = Lifecycle.AVAILABLE) -> Registered:
    return _registered(spec, state)


async def viewed(*found: Registered, known: tuple[ToolSpec, ...] = (ONE, TWO)) -> str | None:
    """The version that a name means in a process that has this code."""
    store = MemoryStore()
    await store.publish(found, Values().event())
    views = Views(store, documents=store.documents, environment="")
    views.add(known)
    tool = (await views.refresh()).catalogue.find("acme", "search")
    return None if tool is None else tool.spec.version


async def test_a_name_means_the_version_published_last_whose_code_is_here() -> None:
    assert await viewed(stored(ONE), stored(TWO)) == "2"
    assert await viewed(stored(ONE), stored(TWO), known=(ONE,)) == "1"
    assert await viewed(stored(ONE), known=()) is None


async def test_a_candidate_does_not_stand_in_the_way_of_what_is_in_use() -> None:
    assert await viewed(stored(ONE), stored(TWO, Lifecycle.CANDIDATE)) == "1"


async def test_what_is_about_to_be_published_or_saved_can_be_looked_at_first() -> None:
    store = MemoryStore()
    views = Views(store, documents=store.documents, environment="")
    views.add([ONE])
    assert (await views.proposed((), new=(stored(ONE),)))[0].find("acme", "search") is not None
    assert (await views.proposed(()))[0].find("acme", "search") is None
    kept, own = PolicySource("kept", ALL), PolicySource("own", ALL, tenant="acme")
    await store.save_policies((kept, own), Values().event())
    new = PolicySource("new", ALL, tenant="acme")
    assert await views.sources((new,)) == (kept, new)
    with pytest.raises(PolicyInvalid):
        views.compile([PolicySource("x", 'permit (principal, action == Action::"nope", resource);')])


async def test_a_view_is_stamped_with_the_epoch_of_its_store_and_compiles_a_version_once() -> None:
    store = MemoryStore()
    views = Views(store, documents=store.documents, environment="")
    views.add([ONE])
    await store.publish((stored(ONE),), Values().event())
    first = await views.refresh()
    await store.save_policies((PolicySource("p", ALL),), Values().event())
    second = await views.refresh()
    assert (first.epoch, second.epoch) == (1, 2)
    assert first.catalogue.find("acme", "search") is second.catalogue.find("acme", "search")


@pytest.mark.requirement("POL-1")
async def test_a_process_without_a_tools_code_still_opens_a_store_whose_policies_name_it(tmp_path: Path) -> None:
    shelf, path = Shelf(), str(tmp_path / "shared.db")
    named = ALL + 'forbid (principal, action == Action::"save", resource) when { context.args.text == "no" };'
    async with opened(path, [shelf.search, shelf.save], named):
        pass
    async with Gate.open(path, tools=[shelf.search]) as gate:
        assert [tool.spec.name for tool in gate.catalogue.visible(Caller(ALICE))] == ["search"]
