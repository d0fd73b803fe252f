"""`interlock tools promote` and `rollback`: which version a tool's name means where none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.core.errors import ToolUnknown
from interlock.doors.cli.answer import Answer
from interlock.doors.cli.shown import moment, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.default_versions import DefaultVersion
    from interlock.doors.cli.session import Session

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
        here = is_here(session, name, found.version)
    return _answer(name, found, is_here=here)


@verb(app, "rollback")
async def rollback(name: Name, *, reason: Reason = "") -> Answer:
    """Make the version before the last promotion the default again."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        found = await session.gate.catalogue.roll_back(name, by=session.by, reason=reason)
        here = is_here(session, name, found.version)
    return _answer(name, found, is_here=here)


def is_here(session: Session, name: str, version: str) -> bool:
    """Whether the project has the code of this version, as the one that the name means."""
    try:
        return session.gate.catalogue.get(name, tenant=session.by.tenant).spec.version == version
    except ToolUnknown:
        return False


def uncoded(name: str, version: str) -> str:
    """What is to be said where a name means a version whose code the project does not have."""
    return (
        f"{name} means version {version}, whose code is not in this project: it cannot be called from here. Put that"
        f" code back beside the other versions, or `interlock tools promote {name} VERSION` another."
    )


def _answer(name: str, found: DefaultVersion, *, is_here: bool) -> Answer:
    document: dict[str, Json] = {
        "name": name,
        "version": found.version,
        "before": found.before or None,
        "until_us": found.until_us or None,
        "here": is_here,
    }
    back = f" `interlock tools rollback {name}` goes back to {found.before} until {moment(found.until_us)}."
    says = f"{name} means version {found.version} from now on.{back if found.before else ''}"
    return Answer(document, visible(says if is_here else f"{says}\n{uncoded(name, found.version)}"))
