"""`interlock tools promote` and `rollback`: which version a tool's name means where none is named."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.core.errors import ToolUnknown
from interlock.core.lifecycle import NAMED
from interlock.doors.cli.answer import USAGE, Answer, note
from interlock.doors.cli.asking import unconfirmed
from interlock.doors.cli.faults import problem
from interlock.doors.cli.shown import moment, visible
from interlock.doors.cli.verb import verb
from interlock.runtime.acts import OPERATORS

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.default_versions import DefaultVersion
    from interlock.doors.cli.session import Session

app = typer.Typer()

Name = Annotated[str, typer.Argument(help="The tool.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it goes on record.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask, where the code of the version is not here.")]


@verb(app, "promote")
async def promote(
    name: Name,
    version: Annotated[str, typer.Argument(help="The version that the name is to mean.")] = "",
    *,
    newest: Annotated[bool, typer.Option("--newest", help="The version published last, whichever that is.")] = False,
    window_days: Annotated[float, typer.Option("--window-days", help="How long one act goes back.")] = 7.0,
    reason: Reason,
    yes: Yes = False,
) -> Answer:
    """Make a version the default of its name, whatever is published after it; or let the name follow the newest."""
    from interlock.doors.cli.session import switching

    if newest is bool(version):
        step = f"`interlock tools show {name}` shows its versions."
        return problem("USAGE", "Say either a version or --newest.", next_step=step, exit_code=USAGE)
    async with switching() as session:
        acts, window_s = session.gate.catalogue, int(window_days * 86_400)
        unsaid = await _unsaid(session, name, version, yes=yes)
        if unsaid is not None:
            return unsaid
        if newest:
            found = await acts.follow_newest(name, window_s=window_s, by=session.by, reason=reason)
        else:
            found = await acts.promote(name, version, window_s=window_s, by=session.by, reason=reason)
        return _answer(name, found, here=here(session, name))


@verb(app, "rollback")
async def rollback(name: Name, *, reason: Reason, yes: Yes = False) -> Answer:
    """Make the version before the last promotion the default again."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        default = await session.gate.catalogue.default(name, tenant=session.by.tenant)
        back = "" if default is None or default.followed else default.before
        unsaid = await _unsaid(session, name, back, yes=yes)
        if unsaid is not None:
            return unsaid
        found = await session.gate.catalogue.roll_back(name, by=session.by, reason=reason)
        return _answer(name, found, here=here(session, name))


async def _unsaid(session: Session, name: str, version: str, *, yes: bool) -> Answer | None:
    """The answer where nobody says yes to a version whose code is not here: with it the name is out of service here."""
    acts, tenant = session.gate.catalogue, session.by.tenant
    open_ = {each.version for each in await acts.list_versions(name, tenant=tenant) if each.state in NAMED}
    if version not in open_ or not session.by.groups & OPERATORS or _is_here(session, name, version):
        return None
    lacks = f"The code of {name} {version} is not in this project: from here {name} could not be called any more."
    note(visible(lacks))
    return unconfirmed(
        "Let the name mean it all the same?",
        yes=yes,
        undone=f"{lacks} Nothing was changed.",
        otherwise="Put its code back beside the other versions first, if it is to be called from here.",
    )


def _is_here(session: Session, name: str, version: str) -> bool:
    try:
        session.gate.catalogue.get(name, version=version, tenant=session.by.tenant)
    except ToolUnknown:
        return False
    return True


def here(session: Session, name: str) -> str:
    """The version that the name means, where its code is in this project; else nothing."""
    try:
        return session.gate.catalogue.get(name, tenant=session.by.tenant).spec.version
    except ToolUnknown:
        return ""


def uncoded(name: str, version: str) -> str:
    """What is to be said where a name means a version whose code the project does not have."""
    return (
        f"{name} means version {version}, whose code is not in this project: it cannot be called from here. Put that"
        f" code back beside the other versions, or `interlock tools promote {shlex.quote(name)} --newest --reason WHY`"
        " lets the name mean what is published last."
    )


def _answer(name: str, found: DefaultVersion, *, here: str) -> Answer:
    version = found.version or here
    document: dict[str, Json] = {
        "name": name,
        "version": version or None,
        "newest": not found.version,
        "before": found.before or None,
        "followed": found.followed,
        "until_us": found.until_us or None,
        "here": bool(here) and here == version,
    }
    goes = f"goes back to {found.way_back} until {moment(found.until_us)}."
    back = f" `interlock tools rollback {shlex.quote(name)} --reason WHY` {goes}"
    means = f"version {version}" if found.version else f"the version published last, now {version or 'not here'},"
    says = f"{name} means {means} from now on.{back if found.way_back else ''}"
    return Answer(document, visible(f"{says}\n{uncoded(name, version)}" if version != here else says))
