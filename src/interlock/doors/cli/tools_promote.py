"""`interlock tools promote` and `rollback`: which version a tool's name means where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.shown import moment, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.default_versions import DefaultVersion

app = typer.Typer()

Name = Annotated[str, typer.Argument(help="The tool.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it goes on record.")]


@verb(app, "promote")
async def promote(
    name: Name,
    version: Annotated[str, typer.Argument(help="The version that the name is to mean.")],
    *,
    window_days: Annotated[float, typer.Option("--window-days", help="How long one act goes back.")] = 7.0,
    reason: Reason = "",
) -> Answer:
    """Make a version the default of its name, whatever is published after it."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        found = await session.gate.catalogue.promote(
            name, version, window_s=int(window_days * 86_400), by=session.by, reason=reason
        )
    return _answer(name, found)


@verb(app, "rollback")
async def rollback(name: Name, *, reason: Reason = "") -> Answer:
    """Make the version before the last promotion the default again."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        found = await session.gate.catalogue.roll_back(name, by=session.by, reason=reason)
    return _answer(name, found)


def _answer(name: str, found: DefaultVersion) -> Answer:
    document: dict[str, Json] = {
        "name": name,
        "version": found.version,
        "before": found.before or None,
        "until_us": found.until_us or None,
    }
    back = f" `interlock tools rollback {name}` goes back to {found.before} until {moment(found.until_us)}."
    says = f"{name} means version {found.version} from now on.{back if found.before else ''}"
    return Answer(document, visible(says))
