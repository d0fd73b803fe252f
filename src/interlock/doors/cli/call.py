"""`interlock call`: proposes one call, as the operator or one of the project's people, and shows what came of it."""

from __future__ import annotations

import secrets
import sys
from typing import Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.verb import verb

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
) -> Answer:
    """Call a tool through the gate.

    Exit codes: 0 done or replayed, 3 refused, 4 waiting for approval, 5 failed, 6 unknown.
    """
    from interlock.core.call import ToolCall
    from interlock.doors.cli.observed import answer_of
    from interlock.doors.cli.session import opened, refuse_changed

    said = sys.stdin.buffer.read(ARGUMENT_BYTES_MAX) if arguments == "-" else arguments
    async with opened() as session:
        refuse_changed(name, session)
        proposal = ToolCall(f"cli-{secrets.token_hex(6)}", name, said)
        return answer_of(await session.gate.propose(proposal, session.caller(run=run, task=task, key=key)))
