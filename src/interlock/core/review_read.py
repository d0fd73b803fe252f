"""What one record of the log says of a call, as far as a review counts it; what it does not say stays unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson

from interlock.core.call import RUNS_DOOR
from interlock.core.canonical import Json
from interlock.core.journal import RECORD, AuditRecord
from interlock.core.observation import Status
from interlock.core.review_counts import Tallied, bucket

Said = Mapping[str, Json]
Place = tuple[str, str]
"""A tool's name and version."""

UNKNOWN: Final[Place] = ("", "")
"""In the place of a tool where a record names none."""

DONE: Final[Mapping[Json, str]] = {
    Status.OK.value: "succeeded",
    Status.PARTIAL.value: "partial",
    Status.FAILED.value: "failed",
    Status.UNKNOWN.value: "lost",
}
"""What an execution counts as, by its status."""


def said_in(record: AuditRecord) -> Said | None:
    """The redacted record; None where it is not kept, or is no record."""
    data = next((each.data for each in record.payloads if each.name == RECORD), None)
    if data is None:
        return None
    try:
        said = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) else None


def place_of(said: Said) -> Place:
    """Of which version of which tool a record is: only of what was published once."""
    name, version = said.get("tool"), said.get("version")
    return (name, version) if isinstance(name, str) and isinstance(version, str) else UNKNOWN


def code_of(said: Said) -> str:
    code = said.get("code")
    return code if isinstance(code, str) else "UNKNOWN"


def whole_in(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _status(said: Said) -> Json:
    status = said.get("status")
    return status if isinstance(status, str) else None


def count_closed(tallied: Tallied, said: Said) -> None:
    """A call that did not end by itself: let go, lost, or closed once its tool or a person knew what became of it."""
    counts, closer, done = tallied.counts, said.get("closer"), DONE.get(_status(said))
    if closer not in ("tool", "person"):
        counts["lost" if done == "lost" else "let_go"] += 1
        counts["unmeasured"] += 1
    else:
        counts["closed_by_tool" if closer == "tool" else "closed_by_person"] += 1
        counts["found_done" if done in ("succeeded", "partial") else "found_not_done"] += 1


def count_end(tallied: Tallied, said: Said) -> None:
    """How an execution ended, what it took and what came of it."""
    counts = tallied.counts
    done = DONE.get(_status(said), "failed")
    counts[done] += 1
    if done in ("failed", "lost"):
        tallied.failures[code_of(said)] += 1
    working_ms, attempts = whole_in(said.get("working_ms")), whole_in(said.get("attempts")) or 1
    if working_ms is None:
        counts["unmeasured"] += 1
    else:
        tallied.working[bucket(working_ms)] += 1
        counts["working_ms"] += working_ms
    counts["cost_micros"] += whole_in(said.get("cost_micros")) or 0
    counts["tokens"] += whole_in(said.get("tokens")) or 0
    if attempts > 1:
        counts["retried"] += 1
        counts["retries"] += attempts - 1
    if done in ("succeeded", "partial"):
        _count_result(tallied, said)


def _count_result(tallied: Tallied, said: Said) -> None:
    counts, result = tallied.counts, said.get("result")
    counts["empty"] += result in ([], {}, "") and "result" in said
    if "evidence" not in said:
        counts["evidence_unknown"] += 1
    elif said["evidence"] is None:
        counts["without_evidence"] += 1
    if said.get("effect") != "read":
        counts["effects"] += 1
        resource = said.get("resource")
        tallied.effects[resource.partition("/")[0] if isinstance(resource, str) else ""] += 1


def count_missing(tallied: Tallied, said: Said) -> None:
    """Fields that stand empty: of a run's calls who chose them, of effects what they belong to."""
    counts, is_run = tallied.counts, bool(said.get("run"))
    if is_run or said.get("door") == RUNS_DOOR:
        counts["without_agent"] += not said.get("agent")
        counts["without_model"] += not said.get("model")
        counts["without_trace"] += not said.get("trace_id")
    if said.get("effect") not in (None, "read"):
        counts["without_task"] += not is_run and not said.get("task")


def finds_nothing(result: Json) -> bool:
    """Whether a search has no match, however it says so."""
    if isinstance(result, dict):
        lists = [each for each in result.values() if isinstance(each, list)]
        return bool(lists) and not any(lists)
    return result == []
