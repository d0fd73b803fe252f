"""`interlock calls`: the calls of which nobody knows whether they happened, and how a person settles one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.core.refusals import Code
from interlock.doors.cli.answer import DONE, Answer
from interlock.doors.cli.faults import problem, refusal
from interlock.doors.cli.shown import as_document, moment, rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.core.canonical import Json
    from interlock.core.recovery import Closing
    from interlock.ports import OpenCall

app = typer.Typer(help="Calls whose outcome is unknown.", no_args_is_help=True)
top = typer.Typer()

_AFTER_CLOSE = {
    Code.PRECONDITION_FAILED: "`interlock calls unknown` lists what is open.",
    Code.APPROVAL_REQUIRED: "Let another operator look, and give the same command with --as ID.",
}
_SETTLE = "`interlock calls close ID --evidence WORDS` with --happened or --did-not-happen."
_AFTER_LOOK_UP = {
    Code.PRECONDITION_FAILED: "`interlock calls unknown` lists what is open.",
    Code.OUTCOME_UNKNOWN: f"Find out whether it happened, then {_SETTLE}",
}


@verb(app, "unknown")
async def unknown() -> Answer:
    """Show the calls of which it is not known whether they happened, oldest first."""
    from interlock.doors.cli.session import settled_in, visited

    async with visited() as session:
        # A call whose process died is not unknown before somebody has looked.
        looked = await session.gate.recovery.find_out()
        found = await session.gate.recovery.unknown(by=session.by)
        proposed = await session.gate.recovery.proposed(by=session.by)
    calls = [_document(each) | _said(proposed.get(each.operation.id)) for each in found]
    settled = settled_in(looked)
    document: dict[str, Json] = {"calls": [*calls], "settled": looked.released + looked.found_out}
    return Answer(document, _table(found) + _waiting(proposed) + (f"\n{settled}" if settled else ""))


@verb(app, "look-up")
async def look_up(
    operation_id: Annotated[str, typer.Argument(metavar="ID", help="The operation, or as much of its id as names it.")],
) -> Answer:
    """Ask a tool at once what became of an unknown call, however often it was asked before. Nothing runs again."""
    from interlock.core.decision import Deny
    from interlock.doors.cli.observed import answer_of
    from interlock.doors.cli.session import visited, whole_id

    async with visited() as session:
        desk = session.gate.recovery
        whole = whole_id(operation_id, [each.operation.id for each in await desk.unknown(by=session.by)])
        seen = await desk.look_up(whole, by=session.by)
    if isinstance(seen, Deny):
        return refusal(seen, next_step=_AFTER_LOOK_UP.get(seen.code, ""))
    return replace(answer_of(seen), exit_code=DONE)


@verb(app, "close")
async def close(
    operation_id: Annotated[str, typer.Argument(metavar="ID", help="The operation, or as much of its id as names it.")],
    *,
    happened: Annotated[
        bool | None, typer.Option("--happened/--did-not-happen", help="What the evidence shows.", show_default=False)
    ] = None,
    evidence: Annotated[str, typer.Option(help="What shows it, in words; it goes on record.")] = "",
) -> Answer:
    """Settle an unknown call by hand, once you know whether it happened."""
    from interlock.core.decision import Deny
    from interlock.doors.cli.observed import answer_of
    from interlock.doors.cli.session import visited, whole_id

    if happened is None or not evidence.strip():
        return problem(
            "EVIDENCE_MISSING",
            "Closing a call takes what happened and what shows it.",
            next_step='Say --happened or --did-not-happen, and --evidence "what you saw, and where".',
        )
    async with visited() as session:
        desk = session.gate.recovery
        whole = whole_id(operation_id, [each.operation.id for each in await desk.unknown(by=session.by)])
        seen = await desk.close(whole, by=session.by, happened=happened, evidence=evidence)
    if isinstance(seen, Deny):
        return refusal(seen, next_step=_AFTER_CLOSE.get(seen.code, ""))
    return replace(answer_of(seen), exit_code=DONE)


@verb(top, "recover")
async def recover() -> Answer:
    """Look up what became of lost calls, and go on with what is being undone. Nothing runs twice."""
    from interlock.doors.cli.session import not_operator, opened

    async with opened() as session:
        refused = not_operator(session.by, "Recovering")
        if refused is not None:
            return refusal(refused)
        # Opening the store recovers as well, so the counts are of what opening could not yet find out.
        counts = as_document(await session.gate.recovery.recover())
        found = await session.gate.recovery.unknown(by=session.by)
    return Answer({**counts, "calls": [_document(each) for each in found]}, _table(found))


@verb(top, "usage")
async def usage() -> Answer:
    """Show what was spent, by whatever limits are set on."""
    from interlock.core.tool import spec_to_json
    from interlock.doors.cli.session import reading

    async with reading() as session:
        found = await session.gate.usage(session.by.tenant, by=session.by)
    document: list[Json] = [
        {
            "scope": scope.kind.value,
            "id": scope.id,
            "window": moment(scope.window_us or None),
            "used": spec_to_json(spent.used._asdict()),
            "held": spec_to_json(spent.held._asdict()),
        }
        for scope, spent in found
    ]
    header = ("Scope", "Of", "Window", "Calls", "Rounds", "Tokens", "Cost (millionths)", "Working ms", "Held calls")
    values = [
        (
            scope.kind.value,
            scope.id.replace("\x1f", " / "),
            moment(scope.window_us or None),
            spent.used.calls,
            spent.used.rounds,
            spent.used.tokens,
            spent.used.cost_micros,
            spent.used.working_ms,
            spent.held.calls,
        )
        for scope, spent in found
    ]
    return Answer({"usage": document}, rows(header, values, empty="Nothing was spent that you may see."))


def _table(found: tuple[OpenCall, ...]) -> str:
    header = ("Operation", "Tool", "Asked by", "Run", "Task", "Started", "Looked up", "Next")
    values = [
        (
            each.operation.id,
            each.operation.tool,
            each.operation.principal,
            each.operation.run,
            each.operation.task,
            moment(each.claimed_at_us),
            each.looks.count,
            "a person" if each.looks.escalated else moment(each.looks.next_us or None),
        )
        for each in found
    ]
    if not values:
        return "No call is unknown."
    step = f"Next: find out whether it happened, then {_SETTLE}"
    return f"{rows(header, values, empty='')}\n{step}"


def _waiting(proposed: Mapping[str, Closing]) -> str:
    """What one person said, for another to confirm."""
    words = {True: "happened", False: "did not happen"}
    said = [
        f"{each.by} says that {operation_id} {words[each.happened]}: {each.evidence}"
        for operation_id, each in proposed.items()
    ]
    return "".join(f"\n{visible(line)} (it takes another operator to close it)" for line in said)


def _said(closing: Closing | None) -> dict[str, Json]:
    if closing is None:
        return {"proposed": None}
    return {"proposed": {"by": closing.by, "happened": closing.happened, "evidence": closing.evidence}}


def _document(found: OpenCall) -> dict[str, Json]:
    """What may be shown of a call: never its arguments."""
    operation = found.operation
    return {
        "operation_id": operation.id,
        "tool": operation.tool,
        "version": operation.version,
        "principal": operation.principal,
        "run": operation.run,
        "task": operation.task,
        "call_id": operation.call_id,
        "state": found.state.value,
        "claimed_at_us": found.claimed_at_us,
        "looks": found.looks.count,
        "escalated": found.looks.escalated,
    }
