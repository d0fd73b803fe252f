"""A frozen operation written down and read back: the same to the byte, or refused."""

from dataclasses import fields, replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.call import Caller, Origin, Principal, PrincipalKind
from interlock.core.catalogue import Catalogue
from interlock.core.decision import Deny, Replay, decide
from interlock.core.errors import StoreError
from interlock.core.lifecycle import CLOSED, Lifecycle
from interlock.core.operation import Operation
from interlock.core.refusals import Code
from interlock.core.stored import caller_of, seal, thaw, thaw_to_ask
from interlock.core.tool import Document, Parameter, ParameterSource
from tests.unit.core.call_cases import ALICE, BY_ALICE, SAVE, catalogue, facts, in_state, operation, prior, tool

TODAY = catalogue(SAVE)
TEXTS = st.text(max_size=5)
CALLERS = st.builds(
    Caller,
    st.builds(
        Principal,
        st.just("acme"),
        TEXTS,
        st.sampled_from(PrincipalKind),
        st.frozensets(TEXTS, max_size=2),
        st.none() | TEXTS,
        TEXTS,
        claims=st.dictionaries(TEXTS, TEXTS | st.booleans() | st.integers(-(2**70), 2**70), max_size=2),
    ),
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.integers(0, 99),
    st.integers(0, 99),
    st.none() | st.integers(1, 10**6),
    st.builds(Origin, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS),
    st.booleans(),
)


def thawed(sealed: bytes, today: Catalogue = TODAY, principal: Principal | None = None) -> Operation:
    found = thaw(sealed, today, principal=principal)
    assert isinstance(found, Operation), found
    return found


def code(sealed: bytes, today: Catalogue = TODAY, principal: Principal | None = None) -> Code:
    found = thaw(sealed, today, principal=principal)
    assert isinstance(found, Deny), found
    return found.code


@pytest.mark.requirement("CALL-7", "CALL-3")
@given(CALLERS, st.text(max_size=8), st.integers(-(10**30), 10**30), st.none() | TEXTS)
def test_an_operation_comes_back_to_the_byte(by: Caller, content: str, count: int, expectation: str | None) -> None:
    frozen = operation({"draft_id": "r1", "content": content, "count": count}, by=by, expectation=expectation)
    found = thawed(seal(frozen))
    assert _parts(found) == _parts(frozen)
    assert found.caller == caller_of(seal(frozen)) == by
    assert (found.call.id, found.call.name, found.call.expectation) == ("c1", "save_draft", expectation)
    assert seal(found) == seal(frozen)


@pytest.mark.requirement("CALL-7")
def test_the_groups_are_those_of_today() -> None:
    today = replace(ALICE, groups=frozenset({"new"}))
    assert thawed(seal(operation()), principal=today).caller.principal == today


@pytest.mark.requirement("CALL-7")
@pytest.mark.parametrize(
    "other", [replace(ALICE, id="eve"), replace(ALICE, tenant="globex"), replace(ALICE, acting_for="eve")]
)
def test_an_operation_is_not_thawed_for_anyone_else(other: Principal) -> None:
    assert code(seal(operation()), principal=other) is Code.APPROVAL_MISMATCH


@pytest.mark.requirement("CALL-7", "APR-2")
@pytest.mark.parametrize("change", [{"description": "Other."}, {"version": "2"}])
def test_an_operation_of_another_tool_version_is_not_thawed(change: dict[str, str]) -> None:
    found = thaw(seal(operation()), catalogue(tool(**change)))  # type: ignore[arg-type]
    assert isinstance(found, Deny)
    assert (found.code, found.message) == (Code.APPROVAL_MISMATCH, "save_draft has changed since.")


@pytest.mark.parametrize("state", [state for state in CLOSED if state is not Lifecycle.RETIRED])
def test_an_operation_is_not_thawed_while_its_tool_takes_no_calls(state: Lifecycle) -> None:
    assert code(seal(operation()), catalogue(in_state(state))) is CLOSED[state]


@pytest.mark.requirement("REG-7")
def test_an_operation_of_a_retired_version_is_thawed_to_be_replayed_and_runs_no_more() -> None:
    found = thaw(seal(operation()), catalogue(in_state(Lifecycle.RETIRED)))
    assert isinstance(found, Operation)
    refused = decide(found, facts(found))
    assert isinstance(refused, Deny)
    assert refused.code is Code.TOOL_RETIRED
    assert isinstance(decide(found, facts(found, prior=prior(found))), Replay)


@pytest.mark.requirement("IDEM-3")
def test_the_code_of_an_older_version_is_asked_what_became_of_its_calls() -> None:
    old, new = in_state(Lifecycle.RETIRED), tool(version="2")
    both = Catalogue({("*", "save_draft"): new}, versions={old.digest: old, new.digest: new})
    assert code(seal(operation()), both) is Code.APPROVAL_MISMATCH
    found = thaw_to_ask(seal(operation()), both)
    assert isinstance(found, Operation)
    assert found.tool is old
    frozen = Catalogue({("*", "save_draft"): new}, versions={old.digest: in_state(Lifecycle.FROZEN)})
    assert isinstance(thaw_to_ask(seal(operation()), frozen), Deny)


def test_an_operation_of_a_tool_that_is_gone_is_not_thawed() -> None:
    assert code(seal(operation()), Catalogue()) is Code.TOOL_NOT_FOUND


@pytest.mark.requirement("CALL-7")
@pytest.mark.parametrize("stored", ['{"draft_id":"r2","lang":"en"}', '{"draft_id":"r1","lang":"en"} '])
def test_arguments_that_were_changed_in_the_store_are_not_run(stored: str) -> None:
    assert code(_changed({"arguments": stored})) is Code.APPROVAL_MISMATCH


@pytest.mark.parametrize("sealed", [b"", b"{", b"[]", b"{}", b"null", b"\xff"])
def test_bytes_that_are_no_operation_are_a_fault_of_the_store(sealed: bytes) -> None:
    for read in (caller_of, lambda data: thaw(data, TODAY)):
        with pytest.raises(StoreError, match="stored operation"):
            read(sealed)


@pytest.mark.parametrize(
    "change",
    [{"caller": {}}, {"caller": None}, {"call": []}, {"caller": {"principal": {"kind": "god"}}}],
)
def test_fields_that_are_none_of_an_operation_are_a_fault_of_the_store(change: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="stored operation"):
        thaw(_changed(change), TODAY)


def _changed(change: dict[str, object]) -> bytes:
    return orjson.dumps({**orjson.loads(seal(operation(by=BY_ALICE))), **change})


def _parts(of: Operation) -> tuple[object, ...]:
    return of.arguments, of.values, of.digest, of.model_digest, of.resource, of.key, of.keyed, of.tool


def test_every_field_of_a_caller_is_sealed() -> None:
    caller = orjson.loads(seal(operation()))["caller"]
    kinds = {Caller: caller, Principal: caller["principal"], Origin: caller["origin"]}
    assert {kind: {each.name for each in fields(kind)} for kind in kinds} == {
        kind: set(told) for kind, told in kinds.items()
    }


@pytest.mark.requirement("POL-1", "APR-2")
@pytest.mark.parametrize("claim", [None, "us", True, 1, "1"])
def test_an_operation_is_not_thawed_where_today_other_values_would_be_injected(claim: str | int | bool | None) -> None:
    by = replace(BY_ALICE, principal=replace(ALICE, claims={"n": 5, "region": "eu"}))
    local = tool(
        parameters=(Parameter("region", source=ParameterSource.CONTEXT, inject="claims.region"),),
        input_schema=Document.of({"type": "object", "properties": {"draft_id": {}, "region": {}}}),
    )
    sealed, today = seal(operation({"draft_id": "r1"}, by=by, of=local)), catalogue(local)
    other = replace(by.principal, claims={} if claim is None else {"region": claim})
    assert code(sealed, today, other) is Code.APPROVAL_MISMATCH
    assert thawed(sealed, today, replace(by.principal, claims={"region": "eu"})).values["region"] == "eu"
    assert thawed(sealed, today).values["region"] == "eu"


@pytest.mark.requirement("POL-1")
def test_a_value_injected_as_another_type_is_another_value() -> None:
    by = replace(BY_ALICE, principal=replace(ALICE, claims={"level": 1}))
    local = tool(
        parameters=(Parameter("level", source=ParameterSource.CONTEXT, inject="claims.level"),),
        input_schema=Document.of({"type": "object", "properties": {"draft_id": {}, "level": {}}}),
    )
    sealed, today = seal(operation({"draft_id": "r1"}, by=by, of=local)), catalogue(local)
    assert code(sealed, today, replace(by.principal, claims={"level": True})) is Code.APPROVAL_MISMATCH
    assert thawed(sealed, today, by.principal).values["level"] == 1
