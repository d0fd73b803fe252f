"""What watchers hear of a run: the entries of its journal in order, redacted, each with the cursor to resume from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from interlock.core.call import storable
from interlock.core.canonical import Json
from interlock.core.redaction import Redactor
from interlock.loop.entries import Begun, Ended, Entry, Faulted, HandedOff, Moved, Observed, Responded, Said, Wished
from interlock.loop.machine import State
from interlock.loop.stages import stage_of
from interlock.loop.view import RunView

TEXT_CHARACTERS_MAX = 4_000


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One thing that happened in a run. `cursor` is where to go on after it, `state` where the run stands then.

    `kind` is one of begun, responded, observed, faulted, said, wished, handed_off, moved, ended; `data` are its facts
    as JSON, redacted, and never a whole result: that is in the observation, for whom policy lets read it.
    """

    run: str
    cursor: int
    kind: str
    at_us: int
    state: State
    data: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        """All of it as JSON."""
        return {
            "run": self.run,
            "cursor": self.cursor,
            "kind": self.kind,
            "at_us": self.at_us,
            "state": self.state.value,
            "data": {**self.data},
        }


def event_of(entry: Entry, view: RunView, *, redactor: Redactor) -> RunEvent:
    """The event of an entry that the view has just taken in."""
    told = _short(redactor.json(_told(entry, view)))  # in this order: half of a secret is not found any more
    data: dict[str, Json] = told if isinstance(told, dict) else {}
    return RunEvent(view.id, entry.sequence, entry.kind, entry.at_us, view.state, data)


def _told(entry: Entry, view: RunView) -> dict[str, Json]:
    body = entry.body
    match body:
        case Begun():
            return {"task": body.task, "agent": body.agent, "model": body.model, "tools": len(body.bound)}
        case Responded():
            return _responded(body, view)
        case Observed():
            return _observed(body)
        case Faulted():
            return {"why": body.why, "status": body.status, "until_us": body.until_us}
        case Said():
            return {"text": body.text, "by": body.by}
        case Wished():
            return {"what": body.what.value, "by": body.by, "text": body.text}
        case HandedOff():
            return {"agent": body.agent, "message": body.message}
        case Moved():
            return {"why": body.why}
        case Ended():
            return {"reason": body.reason, "why": body.why, "answer": body.answer, "success": body.success}
        case _:
            assert_never(body)


def _responded(body: Responded, view: RunView) -> dict[str, Json]:
    turn, spent = view.round.turn, view.spent
    calls: list[Json] = [{"position": each.position, "name": each.name} for each in turn.calls]
    by_provider: list[Json] = [{"name": each.name, "kind": each.kind} for each in turn.provider_calls]
    return {
        "model": body.model,
        "agent": body.agent,
        "text": turn.text,
        "calls": calls,
        "provider_calls": by_provider,
        "ended": turn.ended.value,
        "why": body.why,
        "tokens": body.tokens,
        "cost_micros": body.cost_micros,
        "reported": body.reported,
        "working_ms": body.working_ms,
        "spent": {
            "rounds": spent.rounds,
            "calls": spent.calls,
            "tokens": spent.tokens,
            "cost_micros": spent.cost_micros,
        },
    }


def _observed(body: Observed) -> dict[str, Json]:
    seen = body.seen
    return {
        "position": body.position,
        "call_id": seen.call_id,
        "tool": seen.tool,
        "version": seen.version,
        "status": seen.status.value,
        "stage": stage_of(seen).value,
        "code": None if seen.error is None else seen.error.code.value,
        "tool_code": None if seen.error is None else seen.error.details.get("tool_code"),
        "says": seen.user_text or ("" if seen.error is None else seen.error.message),
        "operation_id": seen.operation_id,
        "approval_id": seen.approval_id,
        "expires_at_us": seen.expires_at_us,
        "replayed": seen.replayed,
        "working_ms": body.working_ms,
    }


def _short(value: Json) -> Json:
    """The same with every text in it as it can be shown: not too long, and without what cannot be encoded."""
    match value:
        case str():
            text = value if len(value) <= TEXT_CHARACTERS_MAX else f"{value[:TEXT_CHARACTERS_MAX]}…"
            return storable(text)
        case dict():
            return {name: _short(each) for name, each in value.items()}
        case list():
            return [_short(each) for each in value]
        case _:
            return value
