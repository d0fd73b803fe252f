"""What a model said, and what is trusted about who let it say so, never mix."""

import json
from dataclasses import fields, replace
from enum import StrEnum

import pytest

from interlock import Gate, tool
from interlock.core.call import Caller, Origin, Principal, PrincipalKind, ToolCall, legible
from interlock.core.operation import Operation
from tests.unit.core.call_cases import BY_ALICE, SAVE, operation, proposed


def test_an_effect_is_made_for_who_is_acted_for() -> None:
    assert Principal("acme", "bot", acting_for="alice").on_behalf_of == "alice"
    assert Principal("acme", "alice").on_behalf_of == "alice"


@pytest.mark.requirement("CALL-1")
def test_a_proposal_holds_nothing_trusted() -> None:
    assert {each.name for each in fields(ToolCall)} == {"id", "name", "arguments", "expectation"}


@pytest.mark.requirement("CALL-1")
@pytest.mark.parametrize("said", [{"id": "c2"}, {"expectation": "It creates the draft."}])
def test_nothing_that_a_model_says_beside_its_arguments_changes_the_operation(said: dict[str, str]) -> None:
    plain = operation()
    other = operation(expectation=said.get("expectation"))
    told = replace(other, call=proposed(**said))
    assert _decisive(told) == _decisive(plain)


@pytest.mark.requirement("CALL-1")
def test_an_object_and_its_text_are_the_same_proposal() -> None:
    text = operation('{"content":"x","draft_id":"r1"}')
    assert _decisive(operation({"draft_id": "r1", "content": "x"})) == _decisive(text)


@pytest.mark.requirement("CALL-1")
def test_a_call_needs_only_a_principal() -> None:
    caller = Caller(BY_ALICE.principal)
    assert (caller.run, caller.task, caller.key) == (None, None, None)
    assert operation(by=caller, of=SAVE).key is None


@pytest.mark.requirement("CALL-8")
@pytest.mark.parametrize("broken", ["a\ud800", "\udfffa", "a\x00"])
@pytest.mark.parametrize("field", ["id", "name", "expectation"])
def test_text_that_cannot_be_recorded_is_made_so_that_it_can(field: str, broken: str) -> None:
    call = legible(proposed(**{field: broken}))
    assert "\ufffd" in getattr(call, field)
    assert getattr(call, field).encode()
    assert replace(call, **{field: "x"}) == proposed(**{field: "x"})


def test_text_that_can_be_recorded_stays_as_it_is() -> None:
    call = proposed(name="ünïcödé 😀")
    assert legible(call) is call


@pytest.mark.requirement("CALL-8")
@pytest.mark.parametrize(
    "call",
    [
        ToolCall("c1", "pi\ud800ng", "{}"),
        ToolCall("c\ud800", "ping", "{}"),
        ToolCall("c1", "ping", "{}", "\ud800"),
        ToolCall("c1", "ping", '{"x":"\ud800"}'),
    ],
)
async def test_a_proposal_with_broken_text_gets_its_observation_too(call: ToolCall) -> None:
    async with Gate.open(":memory:", tools=[ping]) as gate:
        seen = await gate.call(call, principal=BY_ALICE.principal)
    assert seen.status.is_terminal
    assert json.dumps(seen.to_json(), ensure_ascii=False).encode()


@tool(effect="read")
async def ping() -> str:
    """Answer."""
    return "pong"


def _decisive(of: Operation) -> tuple[object, ...]:
    return of.digest, of.model_digest, of.key, of.arguments, of.resource


def test_a_call_of_a_batch_differs_from_the_others_in_its_place_alone() -> None:
    caller = Caller(BY_ALICE.principal, "r1", "t1", "k1", 2, 3, 4_000, Origin("mcp", "a1"), True)
    assert caller.at(7) == replace(caller, position=7) != caller
    assert caller.pinned("d") == replace(caller, pin="d") != caller
    assert caller.pinned("d").pinned(None) == replace(caller, pin=None)


@pytest.mark.requirement("APR-3")
def test_a_kind_named_as_text_is_that_kind_and_groups_of_any_collection_are_a_set() -> None:
    named = Principal("acme", "bot", "agent", ["b", "a"])  # type: ignore[arg-type]
    assert named.kind is PrincipalKind.AGENT
    assert named.groups == frozenset({"a", "b"})
    assert replace(named, kind="service").kind is PrincipalKind.SERVICE
    for wrong in ("robot", "", None):
        with pytest.raises(ValueError, match="PrincipalKind"):
            Principal("acme", "bot", wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="collection"):
        Principal("acme", "bot", groups="approver")  # type: ignore[arg-type]


def test_who_acts_for_another_is_known() -> None:
    assert Principal("acme", "bot", acting_for="alice").acts_for_another
    assert not Principal("acme", "alice", acting_for="alice").acts_for_another
    assert not Principal("acme", "alice").acts_for_another


class Team(StrEnum):
    """What a host may name people by."""

    SALES = "sales"


def test_a_principal_may_be_named_by_members_of_enums() -> None:
    named = Principal(Team.SALES, Team.SALES, groups=frozenset({Team.SALES}), acting_for=Team.SALES, actor=Team.SALES)
    assert named == Principal("sales", "sales", groups=frozenset({"sales"}), acting_for="sales", actor="sales")
    texts = (named.tenant, named.id, *named.groups, named.acting_for, named.actor)
    assert {type(each) for each in texts} == {str}


@pytest.mark.parametrize("value", [None, 7, b"x", ["x"]])
@pytest.mark.parametrize("name", ["tenant", "id", "acting_for", "actor", "groups"])
def test_a_principal_is_named_by_texts_alone(name: str, value: object) -> None:
    if (name, value) == ("acting_for", None):
        return
    given = {name: [value] if name == "groups" else value}
    with pytest.raises(TypeError):
        replace(Principal("acme", "alice"), **given)  # type: ignore[arg-type]  # as it is tried
