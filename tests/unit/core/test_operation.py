"""The digest that authorizes, and the idempotency key: what changes them, and what must not."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from interlock.core.call import Caller, Principal
from interlock.core.canonical import Json, canonical, integral
from interlock.core.effect import Effect
from interlock.core.operation import idempotency_key, operation_digest
from interlock.core.tool import IdempotencyRule
from tests.unit.core.call_cases import ALICE, BY_ALICE, SAVE, operation, proposed, spec, tool

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)
IN_RUN = Caller(ALICE, run="r1", turn=2, position=0)
FREE = tool("anything", Effect.READ, resource=None)


def digest(value: Json, by: Caller = BY_ALICE) -> str:
    return operation_digest(by, FREE, canonical({"value": value}))


def typed(value: Json) -> object:
    """The value with its types, integral floats being the integers that they are frozen as."""
    match value:
        case dict():
            return ("object", frozenset((key, typed(each)) for key, each in value.items()))
        case list():
            return ("array", tuple(map(typed, value)))
        case _:
            return (type(value).__name__, value)


def key(by: Caller = BY_ALICE, rule: IdempotencyRule | None = None, **values: Json) -> str | None:
    found = idempotency_key(by, spec(idempotency=rule or IdempotencyRule()), {"draft_id": "r1", **values})
    return None if found is None else found[0]


@pytest.mark.requirement("CALL-7")
@given(VALUES, VALUES)
def test_digests_are_equal_exactly_where_typed_values_are(one: Json, two: Json) -> None:
    one, two = integral(one), integral(two)
    assert (digest(one) == digest(two)) == (typed(one) == typed(two))


@pytest.mark.requirement("CALL-7", "CALL-3")
def test_values_that_python_takes_for_equal_have_digests_of_their_own() -> None:
    values: list[Json] = [True, 1, "1", [1], None, "", 1.5, 2**53, 2**53 + 1, -(2**53) - 1, 10**30, False, 0]
    assert len({digest(each) for each in values}) == len(values)


@pytest.mark.requirement("CALL-7")
def test_an_integral_float_is_the_integer_that_it_equals() -> None:
    assert operation('{"draft_id":"r1","count":1.0}').digest == operation('{"draft_id":"r1","count":1}').digest
    assert operation('{"draft_id":"r1","count":1e3}').arguments == b'{"count":1000,"draft_id":"r1","lang":"en"}'


@pytest.mark.requirement("CALL-7")
@given(st.binary(min_size=1, max_size=40), st.data())
def test_any_changed_byte_of_the_arguments_changes_the_digest(arguments: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(arguments) - 1))
    changed = bytes([*arguments[:at], arguments[at] ^ data.draw(st.integers(1, 255)), *arguments[at + 1 :]])
    assert operation_digest(BY_ALICE, SAVE, changed) != operation_digest(BY_ALICE, SAVE, arguments)


@pytest.mark.requirement("CALL-7")
@given(st.tuples(*[st.text(max_size=3)] * 3), st.tuples(*[st.text(max_size=3)] * 3))
def test_any_change_of_who_asks_changes_the_digest(one: tuple[str, str, str], two: tuple[str, str, str]) -> None:
    one_by, two_by = _caller(one), _caller(two)
    assume(_who(one_by) != _who(two_by))
    assert digest(1, one_by) != digest(1, two_by)


@pytest.mark.requirement("CALL-7")
@pytest.mark.parametrize(
    "change", [{"name": "save_drafts"}, {"version": "2"}, {"description": "Save it."}, {"tenant": "acme"}]
)
def test_any_change_of_the_tool_changes_the_digest(change: dict[str, str]) -> None:
    changed = tool(**{"name": "save_draft", **change})  # type: ignore[arg-type]
    assert operation(of=changed).digest != operation().digest


@pytest.mark.requirement("CALL-7")
def test_the_digest_does_not_change_between_versions_of_interlock() -> None:
    assert operation_digest(BY_ALICE, replace(SAVE, digest="d" * 64), b'{"draft_id":"r1"}') == (
        "b19de8a9c21307304568db529dc8fc5dccffce80413aeed786dd000ca12d354a"
    )


@pytest.mark.requirement("IDEM-1")
@pytest.mark.parametrize(
    "other",
    [
        replace(BY_ALICE, task="t2"),
        replace(BY_ALICE, key="k1"),
        replace(BY_ALICE, task=None, run="r1"),
        replace(BY_ALICE, principal=replace(ALICE, id="bob")),
        replace(BY_ALICE, principal=replace(ALICE, tenant="globex")),
    ],
)
def test_tenant_principal_task_key_and_run_each_make_a_key_of_their_own(other: Caller) -> None:
    assert key(other) != key()


@pytest.mark.requirement("IDEM-1")
def test_the_key_is_that_of_the_one_the_effect_is_made_for() -> None:
    agent = replace(BY_ALICE, principal=replace(ALICE, id="bot", acting_for="alice"))
    assert key(agent) == key()


@pytest.mark.requirement("IDEM-1")
def test_in_a_run_the_place_of_the_call_is_its_key_whatever_its_arguments() -> None:
    assert key(IN_RUN, content="a") == key(IN_RUN, content="b")
    assert len({key(IN_RUN), key(replace(IN_RUN, turn=3)), key(replace(IN_RUN, position=1))}) == 3
    assert key(replace(IN_RUN, turn=1, position=11)) != key(replace(IN_RUN, turn=11, position=1))


@pytest.mark.requirement("IDEM-1")
def test_declared_key_fields_say_which_arguments_make_it_the_same_effect() -> None:
    rule = IdempotencyRule(("draft_id",))
    assert key(rule=rule, content="a") == key(rule=rule, content="b")
    assert key(rule=rule) != key(rule=rule, draft_id="r2")
    assert key(content="a") != key(content="b")


@pytest.mark.requirement("IDEM-1")
def test_an_effect_without_anything_trusted_to_make_a_key_of_has_none() -> None:
    nobody = Caller(ALICE)
    assert key(nobody) is None
    assert key(BY_ALICE, IdempotencyRule(caller_key_required=True)) is None
    assert key(replace(BY_ALICE, key="k1"), IdempotencyRule(caller_key_required=True)) is not None


@pytest.mark.requirement("IDEM-1")
def test_neither_the_providers_call_id_nor_a_read_makes_a_key() -> None:
    one, other = operation(), operation()
    assert replace(one, call=proposed(id="c1")).key == replace(other, call=proposed(id="c2")).key
    assert operation(of=tool("read_draft", Effect.READ)).key is None


def test_a_key_of_a_task_is_not_the_calls_own() -> None:
    assert [operation(by=by).keyed for by in (BY_ALICE, replace(BY_ALICE, key="k"), IN_RUN)] == [False, True, True]


def _caller(words: tuple[str, str, str]) -> Caller:
    return Caller(Principal(words[0], words[1], acting_for=words[2] or None))


def _who(by: Caller) -> tuple[str, str, str]:
    return by.principal.tenant, by.principal.id, by.principal.on_behalf_of


@pytest.mark.requirement("IDEM-1", "IDEM-2")
def test_a_callers_key_is_the_whole_key_whatever_the_arguments_are() -> None:
    caller = Caller(ALICE, key="k1")
    rule = spec(idempotency=IdempotencyRule(fields=("draft_id",)))
    assert idempotency_key(caller, rule, {"draft_id": "a"}) == idempotency_key(caller, rule, {"draft_id": "b"})
