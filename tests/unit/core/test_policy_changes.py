"""Policies over a catalogue in which a few tools changed are as if compiled anew, at the cost of the few."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from interlock.core.canonical import Json
from interlock.core.errors import PolicyInvalid
from interlock.core.policy import PolicySet, PolicySource
from interlock.core.tool import Document, ResourceRule, ToolSpec
from tests.steps import steps
from tests.unit.core.policy_cases import ALICE, CATALOGUE, SAVE, SEARCH, SEND, request, tool

READS = '@id("reads") permit (principal, action in Action::"read", resource);'
TEXTS = """
@id("all") permit (principal, action, resource);
@id("search") forbid (principal, action == Action::"search", resource) when { context.args.query == "x" };
@id("some") forbid (principal, action in [Action::"search", Action::"put_draft"], resource)
    when { context.args has count && context.args.count > 3 };
@id("has") forbid (principal, action, resource) when { context.args has count && context.args.count > 3 };
@id("draft") forbid (principal, action, resource is Draft) when { resource.owner != principal.id };
@id("fact") forbid (principal, action, resource) when { context.facts has ticket && context.facts.ticket };
@id("asks") forbid (principal, action, resource) when { action == Action::"send_mail" };
"""
POLICIES = st.lists(
    st.sampled_from([READS, *(f"{each};" for each in TEXTS.strip(";\n").split(";\n"))]), unique=True, max_size=4
)


def having(spec: ToolSpec, *names: str, text: str = "query", number: str = "count") -> ToolSpec:
    """Another version of a tool, with these arguments."""
    kinds: dict[str, Json] = {text: {"type": "string"}, number: {"type": "integer"}}
    properties: dict[str, Json] = {name: kinds[name] for name in names}
    schema: Json = {"type": "object", "properties": properties, "required": [*names]}
    return replace(spec, version="2", input_schema=Document.of(schema))


CHANGES = st.lists(
    st.sampled_from(
        [
            (SEARCH, having(SEARCH, "query", "count")),
            (SEARCH, having(SEARCH, "count")),
            (SEARCH, having(SEARCH)),
            (SEARCH, having(SEARCH, "query", "count", text="count", number="query")),
            (None, having(tool("odd"), "count", text="count", number="query")),
            (SAVE, replace(SAVE, version="2", resource=None)),
            (SAVE, replace(having(SAVE, "query"), resource=ResourceRule("Page", "query", resolved=True))),
            (SEND, replace(SEND, version="2", facts=())),
            (None, tool("more", facts=("ticket",))),
            (None, having(tool("other"), "query")),
            (None, replace(tool("mine"), tenant="acme", resource=ResourceRule("Mine", "query", resolved=True))),
        ]
    ),
    unique_by=lambda change: change[1].name,
    min_size=1,
    max_size=3,
)


def compiled(text: list[str], specs: list[ToolSpec]) -> PolicySet | None:
    try:
        return PolicySet([PolicySource("main", "\n".join(text))], specs)
    except PolicyInvalid:
        return None


@pytest.mark.requirement("POL-4", "SCALE-3")
@given(POLICIES, CHANGES)
def test_what_changed_step_by_step_is_what_is_compiled_anew(
    text: list[str], changes: list[tuple[ToolSpec | None, ToolSpec]]
) -> None:
    before = compiled(text, [*CATALOGUE])
    assume(before is not None)
    assert before is not None
    for spec in CATALOGUE:
        before.slice(spec, "acme")
    replaced = {old.name for old, _ in changes if old is not None}
    after = [*(spec for spec in CATALOGUE if spec.name not in replaced), *(spec for _, spec in changes)]
    anew = compiled(text, after)
    try:
        changed = before.with_tools(changes)
    except PolicyInvalid:
        changed = None
    assert (changed is None) == (anew is None)
    if changed is not None and anew is not None:
        for spec in after:
            one, other = changed.slice(spec, "acme"), anew.slice(spec, "acme")
            assert (one.digest, one.facts, one.reads_arguments) == (other.digest, other.facts, other.reads_arguments)
            asked = request(spec, {"query": "x", "count": 4}, principal=ALICE, resource=None)
            assert one.decide(asked) == other.decide(asked)
        assert changed.warnings == anew.warnings


@pytest.mark.requirement("SCALE-3")
def test_a_change_of_one_tool_costs_the_same_among_few_and_among_many() -> None:
    def changing(count: int) -> int:
        specs = [replace(SEARCH, name=f"search_{number}") for number in range(count)]
        found = PolicySet([PolicySource("main", READS)], specs)
        later = having(replace(SEARCH, name="search_3"), "query")
        return steps(lambda: found.with_tools([(specs[3], later)]))

    changing(10)  # what is worked out once, such as the types of arguments
    assert changing(2_000) == changing(10)


COUNTS = '@id("has") forbid (principal, action, resource) when { context.args has count && context.args.count > 3 };'


def test_of_many_that_come_together_one_that_does_not_fit_is_found() -> None:
    known = PolicySet([PolicySource("main", READS + COUNTS)], CATALOGUE)
    alike: list[ToolSpec] = [having(tool(f"tool_{number}"), "count") for number in range(5)]
    odd = having(tool("odd"), "count", text="count", number="query")
    assert known.with_tools([(None, each) for each in alike]) is not None
    for at in (0, 3, 5):
        with pytest.raises(PolicyInvalid, match="main/has"):
            known.with_tools([(None, each) for each in (*alike[:at], odd, *alike[at:])])


@pytest.mark.requirement("SCALE-3")
def test_of_many_that_come_together_and_that_policies_take_for_one_each_costs_little() -> None:
    known = PolicySet([PolicySource("main", READS + COUNTS)], CATALOGUE)

    def come(count: int) -> int:
        changes = [(None, tool(f"tool_{number}")) for number in range(count)]
        return steps(lambda: known.with_tools(changes))

    come(10)
    assert (come(210) - come(10)) / 200 < 200
