"""An example made of what is on record: what it expects, what stood behind it, and what is missing said in words."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.call import Caller, Principal
from interlock.core.example import ExampleKind
from interlock.core.example_check import contradictions
from interlock.core.example_made import OnRecord, made
from interlock.core.observation import Observation, Problem, Status
from interlock.core.redaction import MASK
from interlock.core.refusals import Code
from interlock.core.tool import Document

RECORD: dict[str, Any] = {
    "tool": "look",
    "version": "2",
    "principal": "bot",
    "kind": "agent",
    "on_behalf_of": "alice",
    "status": "ok",
    "code": None,
    "result": {"n": 1},
    "subject": "op-1",
    "task": "t1",
}
CALLER = Caller(Principal("acme", "bot", groups=frozenset({"g"}), claims={"region": "eu"}))


def of(known: OnRecord | None = None, **record: Any) -> Any:
    plain = known or OnRecord({}, arguments={"title": "x", "tenant": "acme"}, caller=CALLER)
    return made(replace(plain, record={**RECORD, **record}), name="n")


def test_what_went_well_is_typical_with_its_result_as_the_worlds_answer() -> None:
    found = of(OnRecord({}, arguments={"title": "x", "tenant": "a"}, caller=CALLER, injected=frozenset({"tenant"})))
    assert (found.kind, found.version, found.task, found.made_from) == (ExampleKind.TYPICAL, "2", "t1", "op-1")
    assert found.arguments == Document.of({"title": "x"})
    assert (found.caller.id, found.caller.acting_for, found.caller.groups) == ("bot", "alice", frozenset({"g"}))
    assert found.world.answers[0].gives == found.expected.data == Document.of({"n": 1})
    assert found.remarks == ("the claims of the caller are left out: region",)


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"status": "waiting", "code": "APPROVAL_REQUIRED"}, ExampleKind.APPROVAL),
        ({"status": "refused", "code": "PERMISSION_DENIED", "told": "TOOL_NOT_FOUND"}, ExampleKind.PERMISSION_DENIED),
        ({"status": "refused", "code": "TOOL_ARGUMENT_INVALID", "says": "x is missing; add it"},
         ExampleKind.MISSING_ARGUMENT),
        ({"status": "refused", "code": "TOOL_ARGUMENT_INVALID", "says": "x must be a text"}, ExampleKind.WRONG),
        ({"status": "refused", "code": "CONTEXT_MISSING"}, ExampleKind.MISSING_ARGUMENT),
        ({"status": "failed", "code": "TOOL_TIMEOUT"}, ExampleKind.TIMEOUT),
        ({"status": "failed", "code": "TOOL_UNAVAILABLE"}, ExampleKind.DEGRADED),
        ({"status": "failed", "code": "TOOL_ERROR"}, ExampleKind.WRONG),
        ({"status": "unknown", "code": "OUTCOME_UNKNOWN"}, ExampleKind.DEGRADED),
        ({"status": "ok", "replayed": True}, ExampleKind.REPLAY),
        ({"status": "compensated"}, ExampleKind.ROLLBACK),
        ({"status": "claimed"}, ExampleKind.DEGRADED),
    ],
)  # fmt: skip
def test_each_end_is_an_example_of_its_kind_that_contradicts_nothing(record: Any, kind: ExampleKind) -> None:
    found = of(**record)
    assert (found.kind, contradictions(found)) == (kind, ())


@pytest.mark.requirement("REG-8")
def test_it_expects_what_the_caller_was_told_and_says_the_true_code() -> None:
    found = of(status="refused", code="PERMISSION_DENIED", told="TOOL_NOT_FOUND", result=None)
    assert found.expected.code == "TOOL_NOT_FOUND"
    assert "the caller was told TOOL_NOT_FOUND; the true code was PERMISSION_DENIED" in found.remarks


def test_an_error_of_the_tools_own_is_what_the_world_answers() -> None:
    error = Problem(Code.TOOL_ERROR, "gone", {"tool_code": "GONE"})
    seen = Observation("c", "look", "2", Status.FAILED, error=error)
    found = of(OnRecord({}, arguments={}, observation=seen, caller=CALLER), status="failed", code="TOOL_ERROR")
    assert (found.expected.tool_code, found.world.answers[0].fails) == ("GONE", "GONE")


@pytest.mark.requirement("REG-8")
def test_what_was_purged_hidden_or_too_long_is_said() -> None:
    found = of(OnRecord({}, remarks=("one",)), result={"bytes": 9, "digest": "d", "head": "h"})
    assert (found.expected.data, found.arguments) == (None, Document.of({}))
    said = "\n".join(found.remarks)
    assert all(each in said for each in ("one", "groups and claims are missing", "arguments are not kept", "too long"))
    hidden = of(OnRecord({}, arguments={"key": MASK}, caller=CALLER))
    assert any("put a value that is no secret" in each for each in hidden.remarks)
