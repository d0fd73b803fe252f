"""A spec says all that the gate needs to know, and its digest changes with every word of it."""

import tracemalloc
from collections.abc import Mapping
from dataclasses import fields, replace

import pytest

from interlock.core.canonical import canonical
from interlock.core.effect import Effect
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.labels import Confidentiality, Labels
from interlock.core.tool import (
    ApprovalFloor,
    CacheRule,
    ChosenBy,
    Cost,
    Document,
    Entrypoint,
    ErrorContract,
    Example,
    IdempotencyRule,
    Localized,
    OutputCheck,
    Parameter,
    ResourceRule,
    RetryRule,
    Risk,
    ToolSpec,
    Vendor,
    spec_digest,
    spec_to_json,
)
from tests.unit.core.call_cases import spec

IDENTITY: Mapping[str, object] = {
    "tenant": "acme",
    "source": "mcp:files",
    "name": "other",
    "version": "2",
    "title": "Save",
    "description": "Other words.",
    "use_when": "A draft is done.",
    "not_for": "Publishing.",
    "localized": {"zh": Localized(title="保存草稿")},
    "input_schema": Document.of({"type": "object"}),
    "output_schema": Document.of({"type": "string"}),
    "parameters": (Parameter("amount", unit="kg", currency="EUR", sensitive=True),),
    "errors": (ErrorContract("BUSY", retryable=True, nothing_happened=True),),
}
EFFECT: Mapping[str, object] = {
    "effect": Effect.DESTRUCTIVE,
    "external": True,
    "compensate": "delete_draft",
    "compensate_arguments": Document.of({"draft_id": "$result.id"}),
    "reconcile": True,
    "cancellable": True,
    "precondition": True,
    "chosen_by": ChosenBy.USER,
}
GOVERNANCE: Mapping[str, object] = {
    "risk": Risk.HIGH,
    "roles": frozenset({"editor"}),
    "labels": Labels(Confidentiality.CONFIDENTIAL),
    "owner": "team-drafts",
    "business_owner": "editorial",
    "vendor": Vendor("Acme", region="eu", sla="99.9", terms="dpa", rate_limit="10/s"),
    "cost": Cost(100, tags=("research",)),
    "timeout_ms": 1_000,
    "retry": RetryRule(1),
    "idempotency": IdempotencyRule(("draft_id",), caller_key_required=True, lifetime_s=60),
    "locks": ("{draft_id}",),
    "depends_on": ("read_draft",),
    "concurrency": 2,
    "output_bytes_max": 100,
    "output_check": OutputCheck.WARN,
    "evidence": EvidenceRule(EvidenceKind.AUTHORITATIVE),
    "resource": ResourceRule("Note", "draft_id"),
    "approval_floor": ApprovalFloor(frozenset({"lead"})),
    "summary": "Save draft {draft_id}",
    "promises": {"ok": "Your draft is saved."},
    "secrets": ("api_key",),
    "facts": ("ticket",),
    "examples": (Example("one", Document.of({"draft_id": "r1"})),),
    "cache": CacheRule(60),
    "resource_version": "seen",
    "fallback": "other",
    "standby": True,
    "resumes": True,
    "handler": Entrypoint("http", "https://example.test", "f2"),
}


@pytest.mark.requirement("TOOL-1")
@pytest.mark.parametrize("name", IDENTITY)
def test_identity_words_schemas_and_errors_are_part_of_the_digest(name: str) -> None:
    assert _changed_digest(name, IDENTITY[name])


@pytest.mark.requirement("TOOL-2")
@pytest.mark.parametrize("name", EFFECT)
def test_what_the_tool_does_to_the_world_is_part_of_the_digest(name: str) -> None:
    assert _changed_digest(name, EFFECT[name])


@pytest.mark.requirement("TOOL-3")
@pytest.mark.parametrize("name", GOVERNANCE)
def test_governance_is_part_of_the_digest(name: str) -> None:
    assert _changed_digest(name, GOVERNANCE[name])


def test_no_field_of_a_spec_is_left_out_here() -> None:
    assert {*IDENTITY, *EFFECT, *GOVERNANCE} == {each.name for each in fields(ToolSpec)}


@pytest.mark.requirement("TOOL-1")
def test_a_tool_is_identified_by_tenant_source_name_and_version() -> None:
    assert spec(tenant="acme", source="mcp:x", version="3").identity == ("acme", "mcp:x", "save_draft", "3")


def test_the_code_behind_a_tool_is_part_of_its_digest() -> None:
    same = replace(spec(), handler=Entrypoint("python", "drafts:save", "f1"))
    changed = replace(spec(), handler=Entrypoint("python", "drafts:save", "f2"))
    assert spec_digest(same) == spec_digest(spec()) != spec_digest(changed)


def test_enums_are_words_and_sets_are_sorted_in_the_json_of_a_spec() -> None:
    told = spec_to_json({"risk": Risk.HIGH, "effect": Effect.READ, "roles": frozenset({"b", "a"}), "n": (1, None)})
    assert told == {"risk": "high", "effect": "read", "roles": ["a", "b"], "n": [1, None]}


def test_a_document_is_decoded_afresh_for_each_reader() -> None:
    document = Document.of({"b": [1], "a": 2})
    first = document.value
    assert isinstance(first, dict)
    first["a"] = 3
    assert document.value == {"a": 2, "b": [1]}
    assert document.text == canonical({"a": 2, "b": [1]})


def test_a_spec_cannot_hold_what_json_cannot() -> None:
    with pytest.raises(TypeError, match="a spec cannot hold a object"):
        spec_to_json(object())


def _changed_digest(name: str, value: object) -> bool:
    before = spec()
    assert getattr(before, name) != value
    return spec_digest(replace(before, **{name: value})) != spec_digest(before)  # type: ignore[arg-type]


def test_a_document_takes_no_more_memory_than_its_text() -> None:
    tracemalloc.start()
    try:
        documents = [Document.of({"number": number}) for number in range(1_000)]
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / len(documents) < 512
