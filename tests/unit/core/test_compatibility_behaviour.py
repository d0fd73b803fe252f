"""What a version promises beside its schemas: less of it breaks, more of it does not, and what depends is uncertain."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.compatibility import Verdict, compare
from interlock.core.effect import Effect
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.tool import (
    ApprovalFloor,
    CacheRule,
    ChosenBy,
    Cost,
    Document,
    Entrypoint,
    ErrorContract,
    IdempotencyRule,
    OutputCheck,
    ResourceRule,
    Risk,
    Vendor,
)
from tests.unit.core.compatibility_cases import TEXT, closed, spec

pytestmark = pytest.mark.requirement("REG-5")

CHECKED = {"output_schema": Document.of(closed("id", id=TEXT))}
LEAD = ApprovalFloor(frozenset({"lead"}))

# what changes, from, to, then the class and verdict that way, and the class and verdict the other way round
CASES: tuple[tuple[str, Any, Any, tuple[str, str], tuple[str, str]], ...] = (
    ("effect", Effect.READ, Effect.WRITE, ("effect-raised", "breaking"), ("effect-weakened", "uncertain")),
    (
        "effect", Effect.IDEMPOTENT_WRITE, Effect.WRITE,
        ("effect-raised", "breaking"), ("effect-weakened", "uncertain"),
    ),
    ("external", False, True, ("external-raised", "breaking"), ("external-weakened", "uncertain")),
    ("compensate", "undo", "", ("compensate-dropped", "breaking"), ("compensate-added", "compatible")),
    ("compensate", "undo", "redo", ("compensate-changed", "uncertain"), ("compensate-changed", "uncertain")),
    ("reconcile", True, False, ("reconcile-dropped", "breaking"), ("reconcile-added", "compatible")),
    ("cancellable", True, False, ("cancellable-dropped", "breaking"), ("cancellable-added", "compatible")),
    ("precondition", False, True, ("precondition-added", "uncertain"), ("precondition-dropped", "uncertain")),
    ("chosen_by", ChosenBy.MODEL, ChosenBy.USER, ("choice-narrowed", "breaking"), ("choice-weakened", "compatible")),
    ("risk", Risk.LOW, Risk.HIGH, ("risk-raised", "breaking"), ("risk-weakened", "compatible")),
    (
        "roles", frozenset(), frozenset({"eng"}),
        ("permission-raised", "breaking"), ("permission-weakened", "compatible"),
    ),
    (
        "roles", frozenset({"eng"}), frozenset({"ops"}),
        ("permission-raised", "breaking"), ("permission-raised", "breaking"),
    ),
    (
        "labels", Labels(), Labels(Confidentiality.RESTRICTED),
        ("labels-raised", "breaking"), ("labels-weakened", "compatible"),
    ),
    (
        "labels", Labels(), Labels(trust=Trust.UNTRUSTED),
        ("labels-raised", "breaking"), ("labels-weakened", "compatible"),
    ),
    (
        "vendor", Vendor(region="eu"), Vendor(region="us"),
        ("vendor-changed", "uncertain"), ("vendor-changed", "uncertain"),
    ),
    ("cost", Cost(5), Cost(5, "EUR"), ("currency-changed", "breaking"), ("currency-changed", "breaking")),
    ("cost", Cost(5), Cost(9), ("cost-raised", "uncertain"), ("cost-changed", "compatible")),
    ("timeout_ms", 9_000, 5_000, ("timeout-shortened", "breaking"), ("timeout-extended", "compatible")),
    (
        "idempotency", IdempotencyRule(("note",)), IdempotencyRule(("text",)),
        ("key-changed", "breaking"), ("key-changed", "breaking"),
    ),
    (
        "idempotency", IdempotencyRule(), IdempotencyRule(caller_key_required=True),
        ("key-demanded", "breaking"), ("key-eased", "compatible"),
    ),
    (
        "idempotency", IdempotencyRule(lifetime_s=9), IdempotencyRule(lifetime_s=5),
        ("key-lifetime-shortened", "breaking"), ("key-eased", "compatible"),
    ),
    ("depends_on", (), ("look",), ("dependency-added", "breaking"), ("dependency-dropped", "compatible")),
    ("output_bytes_max", 9, 5, ("output-limit-lowered", "uncertain"), ("", "compatible")),
    (
        "evidence", EvidenceRule(EvidenceKind.AUTHORITATIVE), EvidenceRule(EvidenceKind.CANDIDATE),
        ("evidence-lowered", "breaking"), ("evidence-raised", "compatible"),
    ),
    (
        "evidence", EvidenceRule(confirm=False), EvidenceRule(confirm=True),
        ("evidence-lowered", "breaking"), ("evidence-raised", "compatible"),
    ),
    (
        "resource", ResourceRule("Note", "note"), ResourceRule("Draft", "note"),
        ("resource-changed", "breaking"), ("resource-changed", "breaking"),
    ),
    ("resource", None, ResourceRule("Note", "note"), ("resource-added", "uncertain"), ("resource-changed", "breaking")),
    ("approval_floor", None, LEAD, ("approval-raised", "breaking"), ("approval-weakened", "compatible")),
    (
        "approval_floor", LEAD, ApprovalFloor(frozenset({"lead"}), quorum=2),
        ("approval-raised", "breaking"), ("approval-weakened", "compatible"),
    ),
    ("secrets", (), ("token",), ("secrets-changed", "uncertain"), ("secrets-changed", "uncertain")),
    ("cache", None, CacheRule(9), ("cache-changed", "uncertain"), ("cache-dropped", "compatible")),
    ("concurrency", 0, 2, ("concurrency-lowered", "uncertain"), ("", "compatible")),
    ("resumes", True, False, ("resumes-dropped", "breaking"), ("resumes-added", "compatible")),
    (
        "resource_version", "note", "",
        ("resource-version-changed", "breaking"), ("resource-version-changed", "uncertain"),
    ),
    (
        "handler", Entrypoint("python", "a", "0" * 64), Entrypoint("python", "a", "1" * 64),
        ("handler", "compatible"), ("handler", "compatible"),
    ),
    ("owner", "eng", "ops", ("text", "compatible"), ("text", "compatible")),
    (
        "errors", (ErrorContract("FULL", True, True),), (ErrorContract("FULL", True, False),),
        ("error-proof-dropped", "breaking"), ("error-eased", "compatible"),
    ),
    (
        "errors", (ErrorContract("FULL", True),), (ErrorContract("FULL", False),),
        ("error-retry-dropped", "breaking"), ("error-eased", "compatible"),
    ),
    ("errors", (), (ErrorContract("FULL"),), ("error-added", "uncertain"), ("error-dropped", "compatible")),
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[3][0]}")
def test_each_change_has_a_class_and_a_verdict_both_ways(case: tuple[str, Any, Any, Any, Any]) -> None:
    name, one, other, there, back = case
    assert found({name: one}, {name: other}) == there
    assert found({name: other}, {name: one}) == back


def test_results_that_are_checked_less_are_relied_on_less() -> None:
    strict, off = ({**CHECKED, "output_check": each} for each in (OutputCheck.STRICT, OutputCheck.OFF))
    assert found(strict, off) == ("output-check-weakened", "breaking")
    assert found(off, strict) == ("output-check-raised", "uncertain")


PYTHON = Entrypoint("python", "notes:search", "0" * 64)
HTTP = Entrypoint("http", "GET https://notes.example.com/v1/search", "0" * 64)


@pytest.mark.parametrize(
    ("old", "new", "path", "said"),
    [
        (PYTHON, HTTP, "/kind", "It was run by python and is run by http."),
        (HTTP, replace(HTTP, target="GET https://other.example.org/v1/search"), "/target", "https://other.example.org"),
        (HTTP, replace(HTTP, target="POST https://notes.example.com/v1/search"), "/target", "POST"),
        (Entrypoint("mcp", "CALL stdio/git log", "0" * 64), Entrypoint("mcp", "CALL stdio/own log", "1" * 64),
         "/target", "It led to CALL stdio/git log and leads to CALL stdio/own log."),
        (Entrypoint("program", "sh run.sh", "0" * 64), Entrypoint("program", "sh other.sh", "1" * 64),
         "/target", "sh other.sh"),
        (HTTP, replace(HTTP, fingerprint="1" * 64), "/fingerprint", "credentials"),
    ],
)  # fmt: skip
def test_a_version_that_leads_elsewhere_is_never_compatible(
    old: Entrypoint, new: Entrypoint, path: str, said: str
) -> None:
    comparison = compare(spec(handler=old), spec(handler=new))
    assert comparison.verdict is Verdict.UNCERTAIN
    [finding] = comparison.findings
    assert (finding.part, finding.path, finding.kind) == ("handler", path, "handler-changed")
    assert said in finding.reason


def test_other_python_code_is_told_and_makes_no_version_uncertain() -> None:
    renamed = compare(spec(handler=PYTHON), spec(handler=Entrypoint("python", "notes:find", "1" * 64)))
    assert (renamed.verdict, renamed.findings[0].kind) == (Verdict.COMPATIBLE, "handler")
    assert "notes:find" in renamed.findings[0].reason


def found(old: dict[str, Any], new: dict[str, Any]) -> tuple[str, str]:
    comparison = compare(spec(**old), spec(**new))
    assert len(comparison.findings) <= 1
    return next((each.kind for each in comparison.findings), ""), comparison.verdict.value
