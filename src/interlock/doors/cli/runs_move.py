"""The verbs of `interlock runs` by which people step in: stop, let go on, say something, take over, give back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import problem, refusal
from interlock.doors.cli.runs import Id, app, whole
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.decision import Deny
    from interlock.doors.cli.session import Session
    from interlock.loop.entries import Wish
    from interlock.loop.machine import State

__all__ = ["app"]

Why = Annotated[str, typer.Option("--reason", "--text", help="Why, in words; it goes on record.")]

CARRIED_OUT_S: Final = 5.0
LOOK_S: Final = 0.1


@verb(app, "cancel")
async def cancel(run_id: Id, *, reason: Why = "") -> Answer:
    """End a run: what waits is given up, what runs is stopped where it can be."""
    from interlock.loop.entries import Wish
    from interlock.loop.machine import OVER

    return await _stopped(run_id, Wish.CANCEL, reason, until=OVER)


@verb(app, "pause")
async def pause(run_id: Id, *, reason: Why = "") -> Answer:
    """Have a run rest at its next step, until it is resumed."""
    from interlock.loop.entries import Wish
    from interlock.loop.machine import OVER, State

    return await _stopped(run_id, Wish.PAUSE, reason, until=OVER | {State.PAUSED})


@verb(app, "hand-over")
async def hand_over(run_id: Id, *, reason: Why = "") -> Answer:
    """Have a run rest for a person to take over, until it is handed back."""
    from interlock.loop.entries import Wish
    from interlock.loop.machine import OVER, State

    return await _stopped(run_id, Wish.HAND_OVER, reason, until=OVER | {State.WAITING_HUMAN})


@verb(app, "hand-back")
async def hand_back(
    run_id: Id, *, text: Annotated[str, typer.Option(help="What the model is told, such as what was done.")] = ""
) -> Answer:
    """Give a run back to the model, and drive it until it waits or is over."""
    from interlock.loop.entries import Wish
    from interlock.loop.machine import State

    return await _gone_on(run_id, {State.WAITING_HUMAN: Wish.HAND_BACK}, text=text)


@verb(app, "resume")
async def resume(run_id: Id) -> Answer:
    """Let a run go on, and drive it here until it waits for people or is over, unless another process does.

    Exit codes: as those of `start`; 3 too where it was over before.
    """
    from interlock.loop.entries import Wish
    from interlock.loop.machine import State

    return await _gone_on(run_id, {State.PAUSED: Wish.RESUME})


@verb(app, "say")
async def say(run_id: Id, text: Annotated[str, typer.Argument(help="The message.")]) -> Answer:
    """Give the model a message with its next request."""
    from interlock.doors.cli.session import reading

    async with reading() as session:
        run = await session.gate.runs.get(await whole(run_id, session), by=session.by)
        refused = await run.say(text)
        if refused is not None:
            return _refused(refused, run.id)
    return Answer({"run": run.id, "said": True}, "The model gets it with its next request.")


async def _stopped(run_id: str, wish: Wish, reason: str, *, until: frozenset[State]) -> Answer:
    """Ask for it, and see it carried out: here where nobody drives the run, else by who does."""
    from interlock.doors.cli.runs_shown import answer_of
    from interlock.doors.cli.session import switching

    async with switching() as session:
        desk = session.gate.runs
        run = await desk.get(await whole(run_id, session), by=session.by)
        refused = await run.wish(wish, text=reason)
        if refused is not None:
            return _refused(refused, run.id)
        await desk.go_on(run.id, by=session.by)
        is_done = await _reached(session, run.id, until)
        report = answer_of(await run.report())
    if is_done:
        return Answer(report.document, report.text)
    later = "It is asked for; who drives the run does it at its next step."
    return Answer(report.document, f"{report.text}\n{later}", report.exit_code)


async def _reached(session: Session, run_id: str, states: frozenset[State]) -> bool:
    """Whether the run comes to one of these states before long."""
    for _ in range(int(CARRIED_OUT_S / LOOK_S)):
        head = await session.gate.runs.head(run_id, by=session.by)
        if head.state in states:
            return True
        await asyncio.sleep(LOOK_S)
    return False


async def _gone_on(run_id: str, wishes: dict[State, Wish], *, text: str = "") -> Answer:
    """Wake a run that rests in one of these states, and drive it until it rests again or is over."""
    from interlock.doors.cli.runs_shown import answer_of
    from interlock.doors.cli.runs_watch import watch
    from interlock.doors.cli.session import driving
    from interlock.loop.desk import OVER
    from interlock.loop.machine import State

    async with driving() as session:
        desk = session.gate.runs
        run = await desk.get(await whole(run_id, session), by=session.by)
        head, report = await desk.head(run.id, by=session.by), await run.report()
        state = State(head.state)
        if state.is_over:
            return _refused(OVER, run.id)
        if report.model not in session.models and not head.held:
            return _model_missing(report.model)
        if state is State.WAITING_HUMAN and state not in wishes:
            step = f"`interlock runs hand-back {run.id} --text WORDS` gives it back to the model."
            return problem("HANDED_OVER", "The run was handed over to a person.", next_step=step)
        if State.WAITING_HUMAN in wishes and state is not State.WAITING_HUMAN:
            step = f"`interlock runs resume {run.id}` goes on with it."
            return problem("NOT_HANDED_OVER", f"The run is {state.value}: nobody has taken it over.", next_step=step)
        refused = await run.wish(wishes[state], text=text) if state in wishes else None
        refused = refused or await desk.go_on(run.id, by=session.by)
        if refused is not None:
            return _refused(refused, run.id)
        moves = await watch(session, run, after=head.version)
        report = await run.report()
        return answer_of(report) if moves or report.model in session.models else _model_missing(report.model)


def _model_missing(name: str) -> Answer:
    step = "Name it under [[models]] in interlock.toml, with its key in the environment."
    return problem("MODEL_UNKNOWN", f"The run asks the model {name}, which this project does not have.", next_step=step)


def _refused(deny: Deny, run_id: str) -> Answer:
    from interlock.core.refusals import Code
    from interlock.doors.cli.steps import OTHER

    steps = {Code.PERMISSION_DENIED: OTHER, Code.RUN_ENDED: f"`interlock runs show {run_id}` shows how it ended."}
    return refusal(deny, next_step=steps.get(deny.code, "`interlock runs list --all` shows how they stand."))
