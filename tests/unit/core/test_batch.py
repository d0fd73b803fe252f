"""The order of calls proposed together: reads free, effects of one lock as proposed, dependencies after their needs."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.batch import FREE, UNDECLARED, Member, Place, lock_names, member, no_operation, places
from interlock.core.effect import Effect
from interlock.core.tool import Document, ResourceRule
from tests.unit.core.call_cases import operation, tool

PATH = Document.of(
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "site": {"type": "string"}},
        "required": ["path"],
    }
)
EDIT = tool("edit", input_schema=PATH, resource=ResourceRule("File", "path"))
LOOK = tool("look", Effect.READ, input_schema=PATH, resource=ResourceRule("File", "path"))
SEND = tool("send", input_schema=PATH, resource=None)
POST = tool("post", input_schema=PATH, resource=None)
BUILD = tool("build", input_schema=PATH, resource=None, locks=("disk/{path}", "cpu"))
SEARCH = tool("search", Effect.READ, input_schema=PATH, resource=None)
MEMBERS = st.lists(
    st.builds(
        Member,
        st.sampled_from("abc"),
        st.booleans(),
        st.frozensets(st.sampled_from(["x", "y"])),
        st.sampled_from([(), ("a",), ("a", "b")]),
    ),
    max_size=6,
)


def order(*calls: tuple[object, str]) -> list[set[int]]:
    """What each call waits for, by position."""
    found = places([member(operation({"path": path}, of=of)) for of, path in calls])  # type: ignore[arg-type]
    return [set(each.after) for each in found]


@pytest.mark.requirement("EXEC-4")
def test_reads_run_beside_each_other_even_of_one_resource() -> None:
    assert order((LOOK, "a"), (LOOK, "a"), (SEARCH, "a")) == [set(), set(), set()]


@pytest.mark.requirement("EXEC-4")
def test_effects_on_one_resource_run_in_the_proposed_order_however_it_is_spelled() -> None:
    assert order((EDIT, "a.md"), (EDIT, "./a.md"), (EDIT, "x/../a.md")) == [set(), {0}, {0, 1}]
    assert order((EDIT, "a.md"), (EDIT, "b.md")) == [set(), set()]


@pytest.mark.requirement("EXEC-4")
def test_a_read_of_a_resource_keeps_its_place_among_the_effects_on_it() -> None:
    assert order((LOOK, "a"), (EDIT, "a"), (LOOK, "a"), (LOOK, "b")) == [set(), {0}, {1}, set()]


@pytest.mark.requirement("EXEC-4")
def test_effects_that_declare_no_lock_share_one() -> None:
    assert order((SEND, "a"), (POST, "b"), (SEARCH, "c")) == [set(), {0}, set()]
    assert order((SEND, "a"), (EDIT, "a")) == [set(), set()]


@pytest.mark.requirement("EXEC-4")
def test_a_declared_dependency_waits_and_needs_success() -> None:
    needing = tool("publish", input_schema=PATH, resource=ResourceRule("Site", "path"), depends_on=("edit",))
    calls = [operation({"path": "a"}, of=of) for of in (EDIT, SEARCH, needing)]
    assert places([member(each) for each in calls]) == (FREE, FREE, Place(frozenset({0}), frozenset({0})))
    assert places([member(each) for each in reversed(calls)])[0] == FREE


@pytest.mark.requirement("EXEC-4")
def test_a_call_that_makes_no_operation_is_waited_for_only_by_what_needs_it_to_succeed() -> None:
    edit, nothing = member(operation({"path": "a"}, of=EDIT)), no_operation("edit")
    assert places([nothing, edit, nothing, edit]) == (FREE, FREE, FREE, Place(frozenset({1}), frozenset()))
    needing = tool("publish", input_schema=PATH, resource=ResourceRule("Site", "path"), depends_on=("edit",))
    publish = member(operation({"path": "a"}, of=needing))
    assert places([nothing, publish])[1] == Place(frozenset({0}), frozenset({0}))


def test_locks_are_canonical_and_belong_to_the_tenant() -> None:
    assert lock_names(operation({"path": "./a"}, of=BUILD)) == {"acme\x1fdisk/a", "acme\x1fcpu"}
    assert lock_names(operation({"path": "./a"}, of=EDIT)) == {"acme\x1fFile/a"}
    assert lock_names(operation({"path": "a"}, of=SEND)) == set()
    assert member(operation({"path": "a"}, of=SEND)).locks == {f"acme\x1f{UNDECLARED}"}
    assert lock_names(operation({"path": "a"}, of=LOOK)) == set()


def test_a_lock_whose_template_names_no_argument_falls_back_to_the_shared_one() -> None:
    of = tool("sync", input_schema=PATH, resource=None, locks=("{site}",))
    assert member(operation({"path": "a"}, of=of)).locks == {f"acme\x1f{UNDECLARED}"}
    assert lock_names(operation({"path": "a", "site": "s"}, of=of)) == {"acme\x1fs"}


@pytest.mark.requirement("EXEC-4")
@given(MEMBERS)
def test_everything_waits_for_earlier_calls_only_and_what_must_be_in_order_is(members: list[Member]) -> None:
    found = places(members)
    assert len(found) == len(members)
    for index, place in enumerate(found):
        assert place.needs <= place.after <= set(range(index))
    for first, second in combinations(range(len(members)), 2):
        one, two = members[first], members[second]
        if first not in found[second].after:
            assert one.tool not in two.depends_on
            assert not (one.is_effect or two.is_effect) or not one.locks & two.locks
