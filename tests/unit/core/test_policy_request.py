"""The view: exactly what a slice reads, in one place each."""

from dataclasses import replace

import pytest

from interlock.core.canonical import Json
from interlock.core.policy_reads import Path
from interlock.core.policy_request import View, projection, tool_values
from interlock.core.policy_schema import TOOL, OpenTypes
from interlock.core.policy_values import STRING, Record, Unfit, record
from interlock.core.resource import Resource
from tests.unit.core.policy_cases import ALICE, SAVE, SEARCH, request

OPEN = OpenTypes(record(ticket=STRING), {"Draft": record(owner=STRING)})


def view(*paths: str, **changes: object) -> View | Unfit:
    split: list[Path] = [tuple(path.split(".")) for path in paths]
    asked = request(SAVE, {"query": "a", "count": 2}, facts={"ticket": "T"}, **changes)
    return projection(SAVE, paths=split, open_types=OPEN).view(asked)


@pytest.mark.requirement("POL-2")
@pytest.mark.parametrize(
    ("paths", "changed"),
    [
        ((), {}),
        (("principal.id",), {"id": "alice"}),
        (("principal.groups",), {"groups": ALICE.groups}),
        (("principal.parents",), {"groups": ALICE.groups}),
        (("principal.on_behalf_of",), {"on_behalf_of": "alice"}),
        (("principal",), {"id": "alice", "groups": ALICE.groups, "on_behalf_of": "alice"}),
        (("principal.tenant", "principal.kind"), {}),
        (("resource.id",), {"resource": b'["r1",{}]'}),
        (("resource.owner",), {"resource": b'["",{"owner":"alice"}]'}),
        (("context.args.count",), {"context": b'{"args":{"count":2}}'}),
        (("context.args.other",), {"context": b'{"args":{}}'}),
        (("context.tool.owner",), {}),
        (("context.run.trust",), {"context": b'{"run":{"trust":2}}'}),
        (("context.facts.ticket",), {"context": b'{"facts":{"ticket":"T"}}'}),
        (("context.door", "context.agent"), {"context": b'{"agent":"","door":"library"}'}),
    ],
)
def test_a_view_holds_what_is_read_and_nothing_else(paths: tuple[str, ...], changed: dict[str, object]) -> None:
    empty = View(ALICE.kind, "", frozenset(), "", b"", b"")
    assert view(*paths) == empty._replace(**changed)  # type: ignore[arg-type]


@pytest.mark.requirement("POL-8")
def test_what_is_read_and_missing_is_named() -> None:
    assert view("context.facts.ticket", "resource.owner", resource=None) == Unfit("the resource is not resolved")
    assert view("resource.owner", resource=Resource("Draft", "r1")) == Unfit("resource.owner is missing")
    assert view("resource.id", resource=Resource("Draft", "r1")) != Unfit("resource.owner is missing")


def test_a_tool_without_a_resource_is_its_own_resource_and_needs_none() -> None:
    read = projection(SEARCH, paths=[("resource", "id"), ("resource", "owner")], open_types=OPEN)
    assert not read.reads_resource
    assert isinstance(read.view(request()), View)


def test_what_a_listing_does_not_know_is_told() -> None:
    def unknown(*paths: str) -> bool:
        return projection(SAVE, paths=[tuple(path.split(".")) for path in paths], open_types=OPEN).reads_unknowns

    unknowns = ["context.args.query", "context.facts.ticket", "context.now", "resource.id", "context.run", "context"]
    assert all(map(unknown, unknowns))
    assert not unknown("principal", "context.tool", "context.agent", "context.environment")


def test_the_values_of_a_tool_are_those_of_its_spec() -> None:
    assert tool_values(replace(SEARCH, external=True), read=TOOL)["external"] is True
    assert tool_values(SEARCH, read=record(owner=STRING)) == {"owner": "research"}
    assert tool_values(SEARCH, read=Record()) == {}


def test_two_requests_that_differ_in_what_is_read_have_two_views() -> None:
    values: list[Json] = [1, 2, 0, -1]
    read = projection(SEARCH, paths=[("context", "args", "count")], open_types=OPEN)
    assert len({read.view(request(arguments={"count": value})) for value in values}) == len(values)
