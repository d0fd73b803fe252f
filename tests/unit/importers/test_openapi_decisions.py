"""What a person decides about an operation holds, and cannot make of it what it is not."""

from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.labels import Trust
from interlock.core.schema import compile_schema
from interlock.importers.openapi_decisions import read_decision
from tests.openapi_documents import loaded, operation, parameter, tool

pytestmark = pytest.mark.requirement("REG-9")

PARAMETERS = [
    parameter("a", "query", {"type": "string"}),
    parameter("b", "query", {"type": "string", "maxLength": 5}, required=True),
]
API = operation(parameters=PARAMETERS, responses={"404": {}})


def test_a_tool_takes_no_more_than_was_decided() -> None:
    spec = tool(API, hide=("a",), narrow={"b": {"enum": ["x", "y"]}}, effect=Effect.WRITE, name="other").spec()
    schema: Any = spec.input_schema.value
    fits = compile_schema(schema)
    assert [fits.is_valid(each) for each in ({"b": "x"}, {"b": "z"}, {"a": "1", "b": "x"})] == [True, False, False]  # type: ignore[arg-type]
    assert (spec.name, spec.effect, spec.owner) == ("other", Effect.WRITE, "pets")


def test_a_fixed_argument_is_filled_in_and_can_be_no_other() -> None:
    spec = tool(API, fix={"b": "x"}).spec()
    schema: Any = spec.input_schema.value
    fits = compile_schema(schema)
    assert fits.with_defaults({}) == {"b": "x"}
    assert not fits.is_valid({"b": "y"})


def test_results_are_untrusted_and_of_the_server_unless_somebody_says_otherwise() -> None:
    assert tool(API).spec().labels.trust is Trust.UNTRUSTED
    assert tool(API).spec().labels.origins == {"https://api.example.com"}
    options = {"labels": {"trust": "internal"}, "owner": "vets", "key": ["b"], "risk": "high"}
    spec = tool(API, options=options).spec()
    assert (spec.labels.trust, spec.owner, spec.idempotency.fields) == (Trust.INTERNAL, "vets", ("b",))


def test_a_status_that_proves_that_nothing_happened_is_a_persons_word() -> None:
    (before,), (after,) = tool(API).spec().errors, tool(API, nothing_happened=(404,)).spec().errors
    assert (before.nothing_happened, after.nothing_happened) == (False, True)


@pytest.mark.parametrize(
    ("decided", "says"),
    [
        ({"hide": ("b",)}, "must be sent"),
        ({"hide": ("zz",)}, "no 'zz'"),
        ({"fix": {"zz": 1}}, "no 'zz'"),
        ({"fix": {"b": "longer than five"}}, "does not fit"),
        ({"fix": {"b": 5}}, "does not fit"),
        ({"narrow": {"b": {"type": "strnig"}}}, ""),
        ({"hide": ("b",), "fix": {"b": 1}}, "hide: b is fixed as well"),
        ({"nothing_happened": (500,)}, "500 is no declared error"),
        ({"options": {"key": ["zz"]}}, "zz"),
        ({"options": {"timeout_ms": "soon"}}, "timeout_ms"),
    ],
)
def test_a_decision_that_does_not_fit_makes_no_tool(decided: dict[str, Any], says: str) -> None:
    found = loaded(API, **decided)
    assert not found.tools
    assert says in found.refused[0].reason


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "mapping"),
        ({"name": "x", "effect": "read"}, "digest is missing"),
        ({"name": "x", "effect": "harmless", "digest": ""}, "must be one of"),
        ({"name": "x", "effect": "read", "digest": "", "alow": True}, "is it 'allow'"),
        ({"name": "x", "effect": "read", "digest": "", "url": "https://evil.test"}, "no 'url'"),
        ({"name": "x", "effect": "read", "digest": "", "allow": "yes"}, "true or false"),
        ({"name": "x", "effect": "read", "digest": "", "resource": {"type": "Pet"}}, "needs type and id"),
    ],
)
def test_a_decision_that_says_what_nothing_reads_is_refused(given: Any, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        read_decision(given, path="operations[GET /x]")
