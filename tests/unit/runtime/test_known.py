"""A catalogue worked out name by name is the one that all versions make at once, at the cost of what changed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.catalogue import Catalogue
from interlock.core.default_versions import DefaultVersion
from interlock.core.lifecycle import Lifecycle
from interlock.core.tool import SHARED, ToolSpec
from interlock.core.tool_compile import compile_tool
from interlock.ports import Registered
from interlock.runtime.catalogue import _registered
from interlock.runtime.known import Known, Routing
from tests.gates import Shelf
from tests.steps import steps

NO_ROUTING = Routing()
SEARCH = Shelf().search.spec()
SPECS = [replace(SEARCH, name=name, version=version) for name in ("a", "b", "c") for version in ("1", "2", "3")]


def stored(spec: ToolSpec, state: Lifecycle = Lifecycle.AVAILABLE) -> Registered:
    return _registered(spec, state)


ROWS = st.builds(stored, st.sampled_from(SPECS), st.sampled_from(Lifecycle))
NAMES = [(SHARED, name) for name in "abc"]
ROUTES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from("1239").map(DefaultVersion)).map(
    lambda defaults: Routing((), defaults, moved=frozenset(NAMES))
)


def shown(found: Catalogue) -> tuple[object, ...]:
    """What a catalogue means, in values that can be compared."""
    return (
        {place: (tool.digest, tool.state) for place, tool in found.tools.items()},
        {place: spec.version for place, spec in found.elsewhere.items()},
        {digest: tool.state for digest, tool in found.versions.items()},
        {place: tool.digest for place, late in found.retired.items() if (tool := late()) is not None},
        {place: tool.digest for place, tool in found.by_version.items()},
    )


@pytest.mark.requirement("SCALE-3")
@given(st.lists(st.tuples(st.lists(ROWS, max_size=3), ROUTES), max_size=5), st.sets(st.integers(0, len(SPECS) - 1)))
def test_step_by_step_it_means_what_it_means_from_the_beginning(
    changes: list[tuple[list[Registered], Routing]], here: set[int]
) -> None:
    known, catalogue = Known(), Catalogue()
    code = [SPECS[number] for number in sorted(here)]
    known.add(code)
    told: dict[str, Registered] = {}
    for epoch, (rows, routing) in enumerate(changes):
        known.learn(epoch, rows)
        told |= {each.digest: each for each in rows}
        renewed = known.renewed(catalogue, routing)
        specs = {spec.identity: spec for spec in catalogue.specs}
        for old, new in renewed.changes:
            if old is not None:
                del specs[old.identity]
            specs[new.identity] = new
        catalogue = renewed.catalogue
        known.settled()
        assert specs == {spec.identity: spec for spec in catalogue.specs}
        anew = Known()
        anew.add(code)
        anew.learn(epoch, told.values())
        assert shown(anew.renewed(Catalogue(), routing).catalogue) == shown(catalogue)


def test_what_is_about_to_be_published_is_in_the_catalogue_and_is_not_known() -> None:
    known = Known()
    known.add(SPECS)
    coming = known.renewed(Catalogue(), NO_ROUTING, new=(stored(SPECS[0]),))
    assert coming.catalogue.find("acme", "a") is not None
    assert ([*known.versions], known.renewed(Catalogue(), NO_ROUTING).catalogue.find("acme", "a")) == ([], None)


def test_what_was_read_before_something_newer_is_left() -> None:
    known, frozen = Known(), stored(SPECS[0], Lifecycle.FROZEN)
    known.learn(2, [frozen])
    known.learn(1, [stored(SPECS[0])])
    named = known.versions.named("a", ["acme", SHARED])
    assert (known.epoch, [*known.versions], named) == (2, [frozen], (frozen,))


@pytest.mark.requirement("SCALE-3")
def test_one_change_costs_the_same_among_few_and_among_many() -> None:
    def change(count: int) -> int:
        specs = [replace(SEARCH, name=f"search_{number}") for number in range(count)]
        known = Known()
        known.add(specs)
        known.learn(1, map(stored, specs))
        catalogue = known.renewed(Catalogue(), NO_ROUTING).catalogue
        known.settled()
        frozen = stored(specs[1], Lifecycle.FROZEN)

        def freeze() -> None:
            known.learn(2, [frozen])
            found = known.renewed(catalogue, NO_ROUTING).catalogue.find("acme", "search_1")
            assert found is not None
            assert found.state is Lifecycle.FROZEN

        return steps(freeze)

    change(10)
    assert change(1_000) == change(10)


def test_code_that_was_compiled_when_it_was_published_is_taken_as_it_is_where_it_stands_as_it_was_to() -> None:
    here = [compile_tool(spec) for spec in SPECS[:2]]
    known = Known()
    known.add([each.spec for each in here], compiled=here)
    known.learn(1, [stored(SPECS[0]), stored(SPECS[1], Lifecycle.FROZEN)])
    versions = known.renewed(Catalogue(), NO_ROUTING).catalogue.versions
    assert versions[here[0].digest] is here[0]
    assert versions[here[1].digest].state is Lifecycle.FROZEN
