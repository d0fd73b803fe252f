"""`interlock tools retire`, `references`, `confirm`, `keep`, `replace`: how a version goes, and what comes after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer, note
from interlock.doors.cli.asking import unconfirmed
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import rows, visible
from interlock.doors.cli.tools_moves import Many, Name, One, Reason, Version, Waive, moved, told, waived
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.core.canonical import Json
    from interlock.core.move_gates import Grounds
    from interlock.core.references import References
    from interlock.core.retirement import Replacement
    from interlock.doors.cli.session import Session
    from interlock.ports import Registered

app = typer.Typer()

_TAKES = "What takes its place; with --on, or of what was announced."
Instead = Annotated[str, typer.Option("--replacement", metavar="TOOL[@VERSION]", help=_TAKES)]
Renames = Annotated[Many, typer.Option("--rename", metavar="OLD=NEW", help="What an argument is called there.")]
Drops = Annotated[Many, typer.Option("--drop", metavar="NAME", help="An argument that it does not take.")]
Adds = Annotated[Many, typer.Option("--add", metavar="NAME=JSON", help="One that it takes, with its value.")]
Errors = Annotated[Many, typer.Option("--error", metavar="OLD=NEW", help="What an error code is there.")]


@verb(app, "retire")
async def retire(
    name: Name,
    *,
    reason: Reason,
    version: Version = None,
    on: Annotated[str, typer.Option("--on", metavar="DAY", help="Only announce it, for this day.")] = "",
    drain_until: Annotated[
        str, typer.Option("--drain-until", metavar="DAY", help="Runs that are bound to it may go on until then.")
    ] = "",
    replacement: Instead = "",
    rename: Renames = None,
    drop: Drops = None,
    add: Adds = None,
    error: Errors = None,
    waive: Waive = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> Answer:
    """Take no more calls, for good; or, with --on, announce it: callers are told, and nothing closes yet.

    A day that was announced is kept: before it, --waive notice=WHY retires it all the same, in your name.
    """
    from interlock.core.move_gates import Grounds
    from interlock.doors.cli.session import not_operator, switching

    given = (rename or (), drop or (), add or (), error or ())
    instead = _instead(replacement, given) if replacement else None
    async with switching() as session:
        deny = not_operator(session.by, "To retire a tool")
        if deny is not None:
            return refusal(deny)
        if on:
            return await _announced(session, name, version=version, on=on, said=(reason, instead))
        if instead is not None:
            await session.gate.catalogue.replace(name, instead, version=version, by=session.by, reason=reason)
        grounds = Grounds(reason=reason, waive=waived(waive or ()))
        return await _retired(session, name, version=version, said=(grounds, drain_until), yes=yes)


async def _announced(
    session: Session, name: str, *, version: str | None, on: str, said: tuple[str, Replacement | None]
) -> Answer:
    from interlock.runtime.retiring import Notice

    notice = Notice(retires_on=on, reason=said[0], replacement=said[1], known=tuple(session.project.people.values()))
    found = await session.gate.catalogue.announce(name, version=version, by=session.by, notice=notice)
    lines = [f"{visible(each.name)} version {visible(each.version)} is to be retired on {on}." for each in found]
    return Answer({"versions": [_going(each) for each in found]}, "\n".join(lines))


async def _retired(session: Session, name: str, *, version: str | None, said: tuple[Grounds, str], yes: bool) -> Answer:
    acts = session.gate.catalogue
    rests = await acts.references(name, version=version, by=session.by)
    which = "every version" if version is None else f"version {visible(version)}"
    counts = ", ".join(f"{len(each)} {kind}" for kind, each in _summed(rests).items() if each)
    if counts:
        note(f"On {which} of {visible(name)} rest: {counts}. `interlock tools references {visible(name)}` lists them.")
    question = f"Retire {which} of {visible(name)} for good?"
    unsaid = unconfirmed(question, yes=yes)
    if unsaid is not None:
        return unsaid
    grounds, until = said
    return moved(await acts.retire(name, version=version, by=session.by, reason=grounds, drain_until=until))


@verb(app, "references")
async def references(name: Name, *, version: Version = None) -> Answer:
    """List what rests on a tool: agents, open runs, questions that wait, examples, policies, other tools."""
    from interlock.doors.cli.session import visited

    async with visited() as session:
        found = await session.gate.catalogue.references(name, version=version, by=session.by)
    document: list[Json] = [{**told(each), "references": rests.told} for each, rests in found]
    values = [
        (each.version, each.state.value, kind, one)
        for each, rests in found
        for kind, all_ in rests.by_kind.items()
        for one in all_
    ]
    text = rows(("Version", "State", "What", "Which"), values, empty=f"Nothing rests on {visible(name)}.")
    return Answer({"versions": document}, text)


@verb(app, "confirm")
async def confirm(name: Name, *, version: One, reason: Reason) -> Answer:
    """Confirm for its owner that a version which was announced may go."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        found = await session.gate.catalogue.confirm(name, version=version, by=session.by, reason=reason)
    text = f"{visible(session.by.id)} has confirmed that {visible(name)} version {visible(version)} may go."
    return Answer({"versions": [_going(found)]}, text)


@verb(app, "keep")
async def keep(name: Name, *, reason: Reason, version: Version = None) -> Answer:
    """Take back the announcement of a retirement."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        found = await session.gate.catalogue.recall(name, version=version, by=session.by, reason=reason)
    lines = [f"{visible(each.name)} version {visible(each.version)} stays." for each in found]
    return Answer({"versions": [_going(each) for each in found]}, "\n".join(lines))


@verb(app, "replace")
async def replace(
    name: Name,
    replacement: Annotated[str, typer.Argument(metavar="TOOL[@VERSION]", help="What takes its place.")],
    *,
    reason: Reason,
    version: Version = None,
    rename: Renames = None,
    drop: Drops = None,
    add: Adds = None,
    error: Errors = None,
) -> Answer:
    """Say what takes the place of a version that is announced or retired, and how calls of it map."""
    from interlock.doors.cli.session import switching

    instead = _instead(replacement, (rename or (), drop or (), add or (), error or ()))
    async with switching() as session:
        acts = session.gate.catalogue
        found = await acts.replace(name, instead, version=version, by=session.by, reason=reason)
    lines = [
        f"{visible(replacement)} takes the place of {visible(each.name)} {visible(each.version)}." for each in found
    ]
    return Answer({"versions": [_going(each) for each in found]}, "\n".join(lines))


def _instead(text: str, given: tuple[Iterable[str], ...]) -> Replacement:
    from interlock.core.retirement import Replacement as Instead_
    from interlock.core.tool import Document

    renames, drops, adds, errors = given
    name, _, version = text.partition("@")
    added = {key: _value(key, value) for key, value in _pairs(adds)}
    return Instead_(name, version, dict(_pairs(renames)), tuple(drops), Document.of({**added}), dict(_pairs(errors)))


def _pairs(given: Iterable[str]) -> list[tuple[str, str]]:
    from interlock.core.errors import MoveRefused

    found = []
    for each in given:
        name, is_pair, value = each.partition("=")
        if not is_pair or not name:
            raise MoveRefused(f"{each!r} is no pair: write it as NAME=VALUE")
        found.append((name, value))
    return found


def _value(name: str, text: str) -> Json:
    from interlock.core.canonical import decode
    from interlock.core.errors import MoveRefused

    try:
        return decode(text.encode())
    except ValueError:
        raise MoveRefused(f"the value of {name} is no JSON: put a text in double quotes") from None


def _summed(found: Iterable[tuple[Registered, References]]) -> dict[str, tuple[str, ...]]:
    summed: dict[str, tuple[str, ...]] = {}
    for _, rests in found:
        for kind, each in rests.by_kind.items():
            summed[kind] = (*summed.get(kind, ()), *each)
    return summed


def _going(found: Registered) -> dict[str, Json]:
    from interlock.core.canonical import decode

    return {**told(found), "retirement": decode(found.retirement.encode()) if found.retirement else None}
