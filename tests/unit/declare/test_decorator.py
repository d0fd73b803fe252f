"""One decorator makes a function a tool, and the function stays a function."""

from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.evidence import EvidenceKind
from interlock.core.resource import Resource
from interlock.core.tool import SHARED, Document, ErrorContract, Example, IdempotencyRule, ResourceRule
from interlock.core.tool_compile import compile_tool
from interlock.declare import tool


async def find_draft(draft_id: str) -> object: ...


def editable(draft_id: str) -> bool:
    return True


def draft_of(draft_id: str) -> Resource:
    return Resource("Draft", draft_id)


@tool(
    effect="write",
    key=["draft_id"],
    resource=("Draft", "draft_id"),
    resolve=draft_of,
    reconcile=find_draft,
    precondition=editable,
    compensate="delete_draft",
    errors=[ErrorContract("STALE", nothing_happened=True)],
    roles=["writer"],
    evidence=EvidenceKind.CANDIDATE,
    examples={"A draft": {"draft_id": "r1", "content": "x"}},
    owner="research",
    timeout_ms=5_000,
)
async def save_draft(draft_id: str, content: str = "") -> dict[str, str]:
    """Save a draft of the report.

    Args:
        draft_id: Which draft.
    """
    return {"id": draft_id}


@pytest.mark.requirement("TOOL-1", "TOOL-2", "TOOL-3", "TOOL-5")
def test_what_is_said_and_what_the_function_says_become_the_spec() -> None:
    spec = save_draft.spec(tenant="acme")
    assert spec.identity == ("acme", "python", "save_draft", "1")
    assert save_draft.spec().tenant == SHARED
    assert (spec.description, spec.effect, spec.owner) == ("Save a draft of the report.", Effect.WRITE, "research")
    assert spec.idempotency == IdempotencyRule(("draft_id",))
    assert spec.resource == ResourceRule("Draft", "draft_id", resolved=True)
    assert (spec.reconcile, spec.precondition, spec.compensate) == (True, True, "delete_draft")
    assert spec.errors == (ErrorContract("STALE", nothing_happened=True),)
    assert (spec.roles, spec.evidence.kind) == (frozenset({"writer"}), EvidenceKind.CANDIDATE)
    assert spec.examples == (Example("A draft", Document.of({"content": "x", "draft_id": "r1"})),)
    assert spec.timeout_ms == 5_000
    assert spec.handler.target == f"{__name__}:save_draft"
    assert compile_tool(spec).input.is_valid({"draft_id": "r1"})


@pytest.mark.anyio
async def test_the_function_stays_callable_and_its_other_functions_are_kept() -> None:
    assert await save_draft("r1") == {"id": "r1"}
    assert (save_draft.__name__, save_draft.name) == ("save_draft", "save_draft")
    functions = save_draft.functions
    assert (functions.reconcile, functions.precondition, functions.resolver) == (find_draft, editable, draft_of)


def test_an_effect_must_be_said_and_known() -> None:
    async def act() -> None:
        """Act."""

    with pytest.raises(SpecInvalid, match="effect"):
        tool()(act)
    with pytest.raises(SpecInvalid, match="effect"):
        tool(effect="harmless")(act)


def test_a_tool_without_a_description_is_refused() -> None:
    async def act() -> None: ...

    with pytest.raises(SpecInvalid, match="docstring"):
        tool(effect="read")(act)
    assert tool(effect="read", description="Act.")(act).spec().description == "Act."


@pytest.mark.requirement("TOOL-5")
def test_an_explicit_schema_is_taken_where_the_function_fits_it() -> None:
    async def act(word: str) -> str:
        """Act."""
        return word

    schema = {"type": "object", "properties": {"word": {"type": "string", "maxLength": 3}}, "required": ["word"]}
    spec = tool(effect="read", input_schema=schema, output_schema={"type": "string"})(act).spec()
    assert (spec.input_schema.value, spec.output_schema) == (schema, Document.of({"type": "string"}))
    with pytest.raises(SpecInvalid, match="no such parameter"):
        tool(effect="read", input_schema={"properties": {"other": {}, "word": {}}, "required": ["word"]})(act)


def test_an_output_schema_of_none_switches_the_derived_one_off() -> None:
    async def act() -> list[int]:
        """Act."""
        return []

    assert tool(effect="read")(act).spec().output_schema == Document.of({"type": "array", "items": {"type": "integer"}})
    assert tool(effect="read", output_schema=None)(act).spec().output_schema is None


@pytest.mark.parametrize("misplaced", [find_draft, "read"])
def test_a_decorator_without_named_options_says_what_one_looks_like(misplaced: Any) -> None:
    with pytest.raises(SpecInvalid, match=r'@tool\(effect="read"\)'):
        tool(misplaced)
