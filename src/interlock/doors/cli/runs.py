"""`interlock runs`: people start runs of models, watch them, and look how they would be decided today."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer, give, note
from interlock.doors.cli.faults import problem
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.doors.cli.session import Session
    from interlock.loop.agent import Agent
    from interlock.loop.desk import Run
    from interlock.loop.entries import Check
    from interlock.loop.events import RunEvent

app = typer.Typer(help="Have models work on tasks, watch them, step in.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(metavar="RUN", help="The run, or as much of its id as names it.")]
KNOWN_MAX = 10_000


@verb(app, "list")
async def list_runs(
    *,
    all_: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    state: Annotated[str | None, typer.Option(help="Only those in this state, such as waiting_approval.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=KNOWN_MAX, help="At most so many, the newest.")] = 100,
) -> Answer:
    """Show runs, newest first."""
    from interlock.doors.cli.runs_shown import list_of
    from interlock.doors.cli.session import reading
    from interlock.loop.machine import OVER, State
    from interlock.ports import RunQuery

    if state is not None and state not in [*State]:
        names = ", ".join(each.value for each in State)
        return problem("USAGE", f"There is no state {state!r}.", next_step=f"It is one of {names}.", exit_code=2)
    over = None if all_ or (state is not None and state in OVER) else False
    async with reading() as session:
        by = session.by
        found = await session.gate.runs.list(by=by, query=RunQuery(by.tenant, state=state, over=over, limit=limit))
        is_plain = not found and not all_ and state is None
        ended = RunQuery(by.tenant, over=True, limit=KNOWN_MAX)
        over_by_now = len(await session.gate.runs.list(by=by, query=ended)) if is_plain else 0
    return list_of(found, over=over_by_now)


@verb(app, "show")
async def show(
    run_id: Id,
    *,
    lineage: Annotated[
        bool, typer.Option("--lineage", help="Also what it has observed, and what that proves.")
    ] = False,
) -> Answer:
    """Show how one run stands, or how it ended."""
    from interlock.doors.cli.runs_shown import answer_of
    from interlock.doors.cli.session import reading
    from interlock.doors.cli.shown import pretty

    async with reading() as session:
        desk = session.gate.runs
        run = await desk.get(await whole(run_id, session), by=session.by)
        answer = answer_of(await run.report())
        if not lineage:
            return Answer(answer.document, answer.text)
        made_of = (await desk.lineage(run.id, by=session.by)).to_json()
    return Answer({**answer.document, "lineage": made_of}, f"{answer.text}\n{pretty(made_of)}")


@verb(app, "events")
async def events(
    run_id: Id,
    *,
    after: Annotated[int, typer.Option(min=0, help="Only what happened after this cursor.")] = 0,
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the run is over; one line each.")] = False,
) -> Answer:
    """Show what happened in a run, each with the cursor to go on from. With --follow, --json gives a line for each."""
    from interlock.doors.cli.runs_shown import event_line
    from interlock.doors.cli.session import reading

    async with reading() as session:
        run = await session.gate.runs.get(await whole(run_id, session), by=session.by)
        if follow:
            async for event in run.events(after=after):
                give(line().out, event.to_json(), event_line(event), as_json=line().json)
            return Answer({}, "", given=True)
        last = (await session.gate.runs.head(run.id, by=session.by)).version
        found = [each async for each in _until(run.events(after=after), last)] if after < last else []
    document: list[Json] = [each.to_json() for each in found]
    text = "\n".join(map(event_line, found)) or "Nothing more has happened."
    return Answer({"events": document, "cursor": max(after, last)}, text)


async def _until(events: AsyncIterator[RunEvent], last: int) -> AsyncIterator[RunEvent]:
    """What has happened by now: events go on until the run is over."""
    async for event in events:
        yield event
        if event.cursor >= last:
            return


@verb(app, "start")
async def start(
    task: Annotated[str, typer.Argument(help="What the model is asked to do.")],
    *,
    model: Annotated[str | None, typer.Option(help="One of [[models]]; default: the first.")] = None,
    agent: Annotated[str | None, typer.Option(help="One of [[agents]]; default: the first.")] = None,
    tool: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Offer this tool; may be given again.")] = None,
    business: Annotated[
        str | None, typer.Option("--task", help="The business task: an effect happens once in it.")
    ] = None,
    run: Annotated[str | None, typer.Option("--run", help="An id of your own: the same again is the same run.")] = None,
    limit: Annotated[
        list[str] | None, typer.Option(metavar="NAME=AMOUNT", help="Such as rounds=10; may be given again.")
    ] = None,
    check: Annotated[
        str | None, typer.Option(metavar="TOOL", help="A tool that reads whether the task is done.")
    ] = None,
    check_arguments: Annotated[str, typer.Option(metavar="JSON", help="The arguments of the check.")] = "{}",
    leave: Annotated[bool, typer.Option("--leave", help="Leave once it waits for people; `resume` goes on.")] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Leave at once: a program with an open gate drives it, or `resume`.")
    ] = False,
) -> Answer:
    """Start a run, drive it and tell what happens until it is over; others may decide approvals meanwhile.

    Exit codes: 0 complete or left by --detach, 3 stopped, 4 not over, 5 failed, cancelled, over a limit or not done by
    its check.
    """
    from interlock.doors.cli.runs_asked import agent_missing, limits_of, model_missing
    from interlock.doors.cli.session import driving

    limits = limits_of(limit or [])
    async with driving() as session:
        project = session.project
        refused = model_missing(session, model) or agent_missing(project, agent)
        if refused is not None:
            return refused
        begun = await session.gate.runs.start(
            model=model or project.models[0].name,
            task=task,
            principal=session.by,
            agent=_agent(agent, project.agents),
            agents=project.agents,
            limits=limits,
            tools=tool,
            task_id=business,
            run_id=run,
            check=_check(check, check_arguments),
        )
        return await _watched(session, begun, detach=detach, leave=leave)


async def _watched(session: Session, run: Run, *, detach: bool, leave: bool) -> Answer:
    from interlock.doors.cli.observed import WAITING
    from interlock.doors.cli.runs_shown import answer_of
    from interlock.doors.cli.runs_watch import watch

    if detach:
        note(f"Run {run.id}. A program with an open gate drives it, or `interlock runs resume {run.id}`.")
    else:
        note(f"Run {run.id}. Ctrl-C leaves it; `interlock runs resume {run.id}` goes on with it.")
        await session.gate.runs.go_on(run.id, by=session.by)
        await watch(session, run, stay=not leave)
    answer = answer_of(await run.report())
    # Who leaves a run to others has got what was asked for, though it is not over.
    return replace(answer, exit_code=DONE) if detach and answer.exit_code == WAITING else answer


@verb(app, "replay")
async def replay(
    run_id: Id,
    *,
    policies: Annotated[
        Path | None, typer.Option(metavar="DIR", help="By these .cedar files, not those in force.")
    ] = None,
    against: Annotated[str, typer.Option(metavar="bound|today", help="By which versions of the tools.")] = "bound",
) -> Answer:
    """Decide every call of a run anew and show what would be different; nothing runs. Exit code 1 where anything is."""
    from interlock.declare.given import read_policies
    from interlock.doors.cli.runs_shown import replayed
    from interlock.doors.cli.session import visited
    from interlock.loop.replay import Against

    if against not in [*Against]:
        return problem("USAGE", f"--against is bound or today, not {against!r}.", next_step="Say which.", exit_code=2)
    async with visited() as session:
        found = await session.gate.runs.replay(
            await whole(run_id, session),
            by=session.by,
            policies=None if policies is None else read_policies(policies),
            against=Against(against),
        )
        document, text = replayed(run_id, found)
    return Answer(document, text, PROBLEM if document["differ"] else DONE)


async def whole(given: str, session: Session) -> str:
    """The id of the one run that is meant, which the beginning of its id names as well."""
    from interlock.doors.cli.session import whole_id
    from interlock.ports import RunQuery

    found = await session.gate.runs.list(by=session.by, query=RunQuery(session.by.tenant, limit=KNOWN_MAX))
    return whole_id(given, [each.id for each in found])


def _agent(name: str | None, known: tuple[Agent, ...]) -> Agent | str:
    if name is None:
        return known[0] if known else "agent"
    return next((each for each in known if each.name == name), name)


def _check(tool: str | None, arguments: str) -> Check | None:
    from interlock.loop.entries import Check

    return None if tool is None else Check(tool, arguments)
