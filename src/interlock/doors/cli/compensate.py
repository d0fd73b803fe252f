"""`interlock compensate`: people have effects undone, see how that stands, and let it go on where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.core.compensation_plan import CompensationPlan, CompensationState, CompensationStep
from interlock.core.refusals import Code
from interlock.doors.cli.answer import DONE, Answer
from interlock.doors.cli.asking import unconfirmed
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import as_document, counted, fields, moment, rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.decision import Deny
    from interlock.doors.cli.session import Session

app = typer.Typer(help="Undo what calls have done, as far as tools can.", no_args_is_help=True)

FAILED, WAITING = 5, 4
EXIT_CODES = {
    CompensationState.COMPENSATED: DONE,
    CompensationState.FAILED: FAILED,
    CompensationState.WAITING: WAITING,
    CompensationState.RUNNING: WAITING,
}

Id = Annotated[str, typer.Argument(metavar="ID", help="The plan, or as much of its id as names it.")]
Run = Annotated[str | None, typer.Option("--run", help="Undo the effects of this run.")]
Task = Annotated[str | None, typer.Option("--task", help="Undo the effects of this task.")]
Operations = Annotated[
    list[str] | None, typer.Option("--operation", metavar="ID", help="Undo this operation; may be given again.")
]


@verb(app, "outline")
async def outline(*, run: Run = None, task: Task = None, operation: Operations = None) -> Answer:
    """Show what would be undone, in which order, and what cannot be. Nothing is done."""
    from interlock.core.decision import Deny
    from interlock.doors.cli.session import visited

    async with visited() as session:
        desk = session.gate.compensations
        plan = await desk.outline(by=session.by, run=run, task=task, operations=operation or ())
    return _refused(plan) if isinstance(plan, Deny) else Answer(_document(plan), _steps(plan))


@verb(app, "start")
async def start(
    *,
    run: Run = None,
    task: Task = None,
    operation: Operations = None,
    reason: Annotated[str, typer.Option(help="Why, in words; it goes on record.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> Answer:
    """Undo effects, the last first, after showing which; what no tool undoes is passed over."""
    from interlock.core.decision import Deny
    from interlock.doors.cli.answer import note
    from interlock.doors.cli.session import opened

    async with opened() as session:
        desk, by = session.gate.compensations, session.by
        outline = await desk.outline(by=by, run=run, task=task, operations=operation or ())
        if isinstance(outline, CompensationPlan):
            note(_steps(outline))
            unsaid = unconfirmed(f"Undo this as {visible(by.id)}?", yes=yes, undone="Nothing was undone.")
            if unsaid is not None:
                return unsaid
        plan = await desk.start(by=by, reason=reason, run=run, task=task, operations=operation or ())
    return _refused(plan) if isinstance(plan, Deny) else _answer(plan)


@verb(app, "resume")
async def resume(plan_id: Id, *, reason: Annotated[str, typer.Option(help="Why, in words.")] = "") -> Answer:
    """Let a plan go on: what failed is tried again, what was unknown or waited is looked at again."""
    from interlock.core.decision import Deny
    from interlock.doors.cli.session import opened

    async with opened() as session:
        whole = await _whole(plan_id, session)
        plan = await session.gate.compensations.resume(whole, by=session.by, reason=reason)
    return _refused(plan) if isinstance(plan, Deny) else _answer(plan)


@verb(app, "list")
async def list_plans(
    *, all_: Annotated[bool, typer.Option("--all", help="Also those that are through.")] = False
) -> Answer:
    """Show plans that run, wait, or stopped, oldest first."""
    from interlock.doors.cli.session import reading

    async with reading() as session:
        found = await session.gate.compensations.list(by=session.by)
    shown = [each for each in found if all_ or each.state is not CompensationState.COMPENSATED]
    header = ("Plan", "State", "Of", "Started by", "Started", "Undone", "Stands at")
    values = [
        (each.id, each.state.value, _scope(each), each.by.id, moment(each.started_us), _undone(each), _stands(each))
        for each in shown
    ]
    return Answer(
        {"plans": [_document(each) for each in shown]}, rows(header, values, empty="Nothing is being undone.")
    )


@verb(app, "show")
async def show(plan_id: Id) -> Answer:
    """Show one plan with all of its steps."""
    from interlock.doors.cli.session import reading
    from interlock.runtime.compensation import MISSING

    async with reading() as session:
        found = await session.gate.compensations.show(await _whole(plan_id, session), by=session.by)
    return _refused(MISSING) if found is None else Answer(_document(found), _text(found))


async def _whole(given: str, session: Session) -> str:
    """The id of the one plan that is meant."""
    from interlock.doors.cli.session import whole_id

    return whole_id(given, [each.id for each in await session.gate.compensations.list(by=session.by)])


def _answer(plan: CompensationPlan) -> Answer:
    step = _next(plan)
    text = _text(plan) + (f"\nNext: {visible(step)}" if step else "")
    return Answer({**_document(plan), "next": step}, text, EXIT_CODES[plan.state])


def _next(plan: CompensationPlan) -> str:
    """What a person may do about the step that it stands at."""
    step = None if plan.at is None else plan.steps[plan.at]
    if step is None:
        return ""
    then = f"`interlock compensate resume {plan.id}"
    if step.approval_id is not None:
        return f"`interlock approvals approve {step.approval_id} --as ID --run`, then {then}`."
    if plan.state is CompensationState.WAITING:
        return f"`interlock calls unknown` shows what has to be found out; then {then}`."
    return f"Put right what it stopped at, then {then} --reason WORDS`."


def _refused(deny: Deny) -> Answer:
    from interlock.doors.cli.steps import OTHER

    is_other = deny.code is Code.PERMISSION_DENIED
    return refusal(deny, next_step=OTHER if is_other else "`interlock compensate list --all` shows what there is.")


def _text(plan: CompensationPlan) -> str:
    about = fields(
        [
            ("Plan", f"{plan.id} ({plan.state.value})"),
            ("Of", _scope(plan)),
            ("Started by", plan.by.id),
            ("Because", plan.reason),
            ("Undone", _undone(plan)),
        ]
    )
    return f"{about}\n{_steps(plan)}"


def _steps(plan: CompensationPlan) -> str:
    header = ("Operation", "Tool", "Undone by", "State", "Says")
    values = [(each.operation_id, each.tool, each.compensate, each.state.value, each.says) for each in plan.steps]
    lost = len(plan.irreversible)
    end = f"\n{counted(lost, 'effect')} cannot be undone." if lost else ""
    return rows(header, values, empty="") + end


def _scope(plan: CompensationPlan) -> str:
    if plan.run is not None:
        return f"run {plan.run}"
    return counted(len(plan.steps), "operation") if plan.task is None else f"task {plan.task}"


def _undone(plan: CompensationPlan) -> str:
    passed = [each for each in plan.steps if each.state.is_passed]
    return f"{len(passed) - len(plan.irreversible)} of {len(plan.steps)}"


def _stands(plan: CompensationPlan) -> str:
    step: CompensationStep | None = None if plan.at is None else plan.steps[plan.at]
    return "" if step is None else f"{step.tool}: {step.says or step.state.value}"


def _document(plan: CompensationPlan) -> dict[str, Json]:
    """What may be shown of a plan; of who started it the id alone."""
    document = as_document(plan)
    return {**document, "by": plan.by.id, "state": plan.state.value, "irreversible": len(plan.irreversible)}
