"""`interlock call`: proposes one call, as the operator or one of the project's people, and shows what came of it."""

from __future__ import annotations

import secrets
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.observation import Observation
    from interlock.core.routing_words import Explained

ARGUMENT_BYTES_MAX = 8 * 1024 * 1024
"""How much is read from standard input; the gate refuses arguments long before that."""

app = typer.Typer()


@verb(app, "call")
async def call(
    name: Annotated[str, typer.Argument(help="The tool.")],
    arguments: Annotated[str, typer.Argument(help="Its arguments as a JSON object, or - to read them.")] = "{}",
    *,
    task: Annotated[str | None, typer.Option(help="The business task: the same effect happens once in it.")] = None,
    run: Annotated[str | None, typer.Option(help="The run that the call belongs to.")] = None,
    key: Annotated[str | None, typer.Option(help="An idempotency key of your own.")] = None,
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="As this agent, in the versions it has.")] = "",
    explain: Annotated[bool, typer.Option("--explain", help="Also say which version is meant, and why.")] = False,
) -> Answer:
    """Call a tool through the gate.

    Exit codes: 0 done or replayed, 3 refused, 4 waiting for approval, 5 failed, 6 unknown.
    """
    from interlock.core.call import ToolCall
    from interlock.core.refusals import Code
    from interlock.doors.cli.agents_shown import meaning, tell_unpublished
    from interlock.doors.cli.observed import answer_of
    from interlock.doors.cli.session import opened, refuse_changed
    from interlock.doors.cli.tools_absent import step_past_promotion, step_to

    said = sys.stdin.buffer.read(ARGUMENT_BYTES_MAX) if arguments == "-" else arguments
    async with opened() as session:
        await refuse_changed(name, session)
        proposal = ToolCall(f"cli-{secrets.token_hex(6)}", name, said)
        caller = session.caller(run=run, task=task, key=key)
        caller = replace(caller, origin=replace(caller.origin, agent=agent))
        means = await meaning(session, agent, name) if explain else None
        if agent and means is None:
            await tell_unpublished(session, agent)
        seen = await session.gate.propose(proposal, caller)
        is_lost = not agent and seen.error is not None and seen.error.code is Code.TOOL_NOT_FOUND
        is_gone = not agent and seen.error is not None and seen.error.code is Code.TOOL_RETIRED
        found = await step_to(session, name) if is_lost else await step_past_promotion(session, name) if is_gone else ""
        step = found or _step(seen, agent)
    answer = answer_of(seen, step=step)
    return answer if means is None else _with(answer, means)


def _step(seen: Observation, agent: str) -> str | None:
    """What to do where an agent's version is another, or may be what is not here; None: what its code says."""
    from interlock.core.refusals import Code

    if agent and seen.error is not None and seen.error.code is Code.TOOL_ARGUMENT_INVALID and seen.version:
        which = f"{shlex.quote(seen.tool)} --version {shlex.quote(seen.version)}"
        return f"`interlock tools show {which}` shows its arguments."
    lost = (Code.TOOL_NOT_FOUND, Code.TOOL_NOT_ALLOWED, Code.TOOL_UNAVAILABLE)
    if not agent or seen.error is None or seen.error.code not in lost:
        return None
    return (
        f"`interlock agents explain {shlex.quote(agent)} {shlex.quote(seen.tool)}` says what the name means, and why."
    )


def _with(answer: Answer, means: Explained) -> Answer:
    from interlock.doors.cli.agents_shown import explained_document, explained_text

    document = {**answer.document, "meaning": explained_document(means)}
    return replace(answer, document=document, text=f"{explained_text(means)}\n{answer.text}")
