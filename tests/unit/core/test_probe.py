"""What a read does is held against what is said of it, rule by rule."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.canonical import canonical
from interlock.core.evidence import Evidence, EvidenceKind, EvidenceRule, Source
from interlock.core.observation import Observation, Problem, Status
from interlock.core.probe import (
    HISTORY_MAX,
    Probed,
    ProbeFinding,
    ProbeHistory,
    ProbeRecord,
    ProbeRule,
    is_due,
    judged,
)
from interlock.core.refusals import Code
from interlock.core.tool import Document
from interlock.core.tool_compile import compile_tool
from tests.library import example, spec

CODES = {"type": "array", "items": {"type": "string"}}


def seen(data: Any = "x", status: Status = Status.OK, **more: Any) -> Observation:
    return Observation("c", "look", "1", status, canonical(data), **more)


def failed(code: Code) -> Observation:
    return seen(None, Status.FAILED, error=Problem(code, "no"))


def rules(probed: Probed, tool: dict[str, Any] | None = None, **changes: Any) -> list[ProbeRule]:
    return [each.rule for each in judged(example(**changes), compile_tool(spec(**(tool or {}))), probed)]


def twice(first: Observation, **more: Any) -> Probed:
    return Probed(first, first, **more)


def test_a_read_that_does_what_is_said_of_it_is_found_to_do_so() -> None:
    assert rules(twice(seen(), took_ms=(10, 10), versions=("1", "1"), watched={"other": (b"1", b"1")})) == []


@pytest.mark.requirement("REG-14")
@pytest.mark.parametrize(
    ("probed", "tool", "rule"),
    [
        (twice(seen(), versions=("1", "2")), {}, ProbeRule.MOVED),
        (twice(seen(), watched={"other": (b"1", b"2")}), {}, ProbeRule.WROTE),
        (Probed(seen("x"), seen("y")), {}, ProbeRule.UNSTABLE),
        (twice(seen(1)), {"output_schema": Document.of({"type": "string"})}, ProbeRule.OUTPUT),
        (twice(seen(), took_ms=(10, 16_000)), {"timeout_ms": 30_000}, ProbeRule.SLOW),
        (twice(seen([1, 2, 3])), {"description": "Find at most 2 things."}, ProbeRule.CLAIM),
        (
            twice(seen(evidence=Evidence(EvidenceKind.CANDIDATE))),
            {"evidence": EvidenceRule(EvidenceKind.CANDIDATE, quotable=True)},
            ProbeRule.EVIDENCE,
        ),
        (twice(seen(evidence=Evidence(EvidenceKind.STATUS, sources=(Source("a"),)))), {}, ProbeRule.EVIDENCE),
    ],
)
def test_what_a_read_does_otherwise_is_found(probed: Probed, tool: dict[str, Any], rule: ProbeRule) -> None:
    assert rules(probed, tool) == [rule]


def test_a_description_that_counts_rightly_is_no_finding() -> None:
    assert rules(twice(seen([1, 2])), {"description": "Find at most 2 things."}) == []
    assert rules(twice(seen("abc")), {"description": "Find up to 2 things."}) == []


def test_errors_outside_the_contract_and_results_that_were_withheld_are_found() -> None:
    assert rules(twice(failed(Code.TOOL_EXCEPTION))) == [ProbeRule.EXPECTED, ProbeRule.EXPECTED, ProbeRule.ERROR]
    assert ProbeRule.OUTPUT in rules(twice(failed(Code.OUTPUT_INVALID)))


def test_a_probe_that_policy_does_not_let_says_that_alone() -> None:
    refused = seen(None, Status.REFUSED, error=Problem(Code.TOOL_NOT_FOUND, "no"))
    assert rules(twice(refused)) == [ProbeRule.REFUSED]


@pytest.mark.requirement("REG-14")
def test_a_probe_is_due_once_its_time_has_come_and_never_without_a_schedule() -> None:
    probe = example(probe=True, every="1h")
    history = ProbeHistory("look", "one", (ProbeRecord(5_000_000, "d"),))
    assert is_due(probe, None, now_us=0)
    assert not is_due(probe, history, now_us=5_000_000 + 3_599_999_999)
    assert is_due(probe, history, now_us=5_000_000 + 3_600_000_000)
    assert not is_due(replace(probe, every=""), None, now_us=0)
    assert not is_due(replace(probe, probe=False), None, now_us=0)


def test_a_history_is_bounded_and_keeps_the_newest() -> None:
    history = ProbeHistory("look", "one")
    for at_us in range(HISTORY_MAX + 5):
        history = history.with_one(ProbeRecord(at_us, "d", (ProbeFinding(ProbeRule.SLOW, "slow"),)))
    assert (len(history.records), history.records[0].at_us) == (HISTORY_MAX, 5)
    assert not history.records[0].passed
