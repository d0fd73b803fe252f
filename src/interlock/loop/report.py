"""How a run stands, for those who look at it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.core.observation import Status
from interlock.loop.entries import Body, Faulted, Responded
from interlock.loop.machine import State
from interlock.loop.view import Round, RunView, Spent

_UNKNOWN = Status.UNKNOWN  # looking it up in its class costs as much as a call


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run stands, or how it ended. `agent` is at the task, and `model` is asked next. `waiting` are ids of
    approvals. `answer` is the model's last word, which is not proof that the task is done: `success` says what the
    run's check found, None where it has none; a check that could not be asked is no success, and `why` says so.
    `fault` is what last kept it from going on, empty once it has. `unknown` are the ids of calls of which the run was
    told that nobody knows whether they happened."""

    id: str
    state: State
    agent: str
    spent: Spent
    answer: str = ""
    reason: str = ""
    why: str = ""
    success: bool | None = None
    waiting: tuple[str, ...] = ()
    task: str = ""
    model: str = ""
    principal: str = ""
    started_us: int = 0
    fault: str = ""
    unknown: tuple[str, ...] = ()


def report_of(view: RunView) -> RunReport:
    """How a run stands."""
    ended = view.ended
    waiting = view.round.waiting if view.spent.rounds and not view.state.is_over else ()
    return RunReport(
        view.id,
        view.state,
        view.agent.name,
        view.spent,
        answer="" if ended is None else ended.answer,
        reason="" if ended is None else ended.reason,
        why="" if ended is None else ended.why,
        success=None if ended is None else ended.success,
        waiting=tuple(each.seen.approval_id for each in waiting if each.seen.approval_id),
        task=view.begun.task,
        model=view.agent.model or view.begun.model,
        principal=view.begun.principal.on_behalf_of,
        started_us=view.started_us,
        fault=view.fault,
        unknown=tuple(_unknown(view)),
    )


def end_record(view: RunView, written: Iterable[Body], *, state: State, reason: str) -> dict[str, object]:
    """What is put on record of the end of a run: what was used by then, by what is written now, too."""
    spent = view.spent.so_far()
    for each in written:
        if isinstance(each, Responded | Faulted):
            spent.charge(each)
    return {
        "subject": view.id,
        "principal": view.begun.principal.id,
        "on_behalf_of": view.begun.principal.on_behalf_of,
        "agent": view.agent.name,
        "state": state.value,
        "reason": reason,
        "rounds": spent.rounds,
        "calls": spent.calls,
        "tokens": spent.tokens,
        "cost_micros": spent.cost_micros,
        "working_ms": spent.working_ms,
    }


def _unknown(view: RunView) -> list[str]:
    found = [
        (turn, at, each.seen.call_id)
        for turn, asked in enumerate(view.history)
        if type(asked) is Round
        for at, each in asked.observed.items()
        if each.seen.status is _UNKNOWN
    ]
    return [call_id for _, _, call_id in sorted(found)]
