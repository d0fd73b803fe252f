"""`interlock tools freeze`, `release`, `move`, `sign-off`, `evidence`: where versions stand, and on what evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, USAGE, Answer
from interlock.doors.cli.faults import problem, refusal
from interlock.doors.cli.shown import rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.core.canonical import Json
    from interlock.core.decision import Deny
    from interlock.core.lifecycle import Lifecycle, Need
    from interlock.core.move_gates import Grounds
    from interlock.doors.cli.session import Session
    from interlock.ports import Registered

app = typer.Typer()

Name = Annotated[str, typer.Argument(help="The tool.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it goes on record.")]
Version = Annotated[str | None, typer.Option("--version", help="Which version; default: all of them.")]
One = Annotated[str, typer.Option("--version", help="Which version.")]
Many = list[str] | None
Waive = Annotated[Many, typer.Option("--waive", metavar="NEED=WHY", help="Go without this, in your name.")]


@verb(app, "freeze")
async def freeze(name: Name, *, reason: Reason, version: Version = None) -> Answer:
    """Take no more calls, at once, in every process, until it is released."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        deny = _refused(session, "To freeze a tool")
        if deny is not None:
            return refusal(deny)
        return moved(await session.gate.catalogue.freeze(name, version=version, by=session.by, reason=reason))


@verb(app, "release")
async def release(
    name: Annotated[str, typer.Argument(help="The tool; none where a stop is lifted.")] = "",
    *,
    reason: Reason,
    version: Version = None,
    stop: Annotated[str, typer.Option("--stop", metavar="ID", help="Lift this stop: open what it closed.")] = "",
) -> Answer:
    """Take calls again: what is frozen goes back to where it stood; where nothing is, what is quarantined opens."""
    from interlock.doors.cli.session import switching

    if bool(name) == bool(stop):
        return problem("USAGE", "Name a tool, or a stop with --stop.", next_step="`interlock tools stops` lists those.")
    async with switching() as session:
        deny = _refused(session, "To release a tool")
        if deny is not None:
            return refusal(deny)
        acts = session.gate.catalogue
        if stop:
            lifted = await acts.lift(stop, by=session.by, reason=reason)
            return Answer({"lifted": lifted.id}, f"The stop of {visible(lifted.scope.words)} is lifted.")
        return moved(await _released(session, name, version=version, reason=reason))


async def _released(session: Session, name: str, *, version: str | None, reason: str) -> tuple[Registered, ...]:
    from interlock.core.lifecycle import Lifecycle

    acts, by = session.gate.catalogue, session.by
    found = [each for each in await acts.list_versions(name, tenant=by.tenant) if version in (None, each.version)]
    if any(each.state is Lifecycle.FROZEN for each in found) or not found:
        return await acts.release(name, version=version, by=by, reason=reason)
    return await acts.move(name, Lifecycle.AVAILABLE, version=version, by=by, reason=reason)


@verb(app, "move")
async def move(
    name: Name,
    state: Annotated[str, typer.Argument(help="available, restricted, frozen or quarantined.")],
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; it goes on record. Only --check goes without.")] = "",
    version: Version = None,
    waive: Waive = None,
    sample: Annotated[Many, typer.Option("--sample", help="What it rests on: an example, a call.")] = None,
    rollback: Annotated[str, typer.Option("--rollback", help="The way back.")] = "",
    review_on: Annotated[str, typer.Option("--review-on", metavar="DAY", help="When it is looked at again.")] = "",
    expand_when: Annotated[Many, typer.Option("--expand-when", help="When to go further.")] = None,
    withdraw_when: Annotated[Many, typer.Option("--withdraw-when", help="When to go back.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only say how its gate would stand.")] = False,
) -> Answer:
    """Move versions to another state, through the gate of the move."""
    from interlock.core.move_gates import Grounds
    from interlock.doors.cli.session import switching, visited

    if not (reason or check):
        step = "`interlock tools move --help` shows what it takes."
        return problem("USAGE", "Missing option '--reason'.", next_step=step, exit_code=USAGE)
    grounds = Grounds(
        reason=reason,
        samples=tuple(sample or ()),
        rollback=rollback,
        review_on=review_on,
        expand_when=tuple(expand_when or ()),
        withdraw_when=tuple(withdraw_when or ()),
        waive=waived(waive or ()),
    )
    async with visited() if check else switching() as session:
        deny = _refused(session, "To move a tool")
        if deny is not None:
            return refusal(deny)
        if check:
            return await _gate(session, name, state=state, version=version, grounds=grounds)
        to = _state(state)
        return moved(await session.gate.catalogue.move(name, to, version=version, by=session.by, reason=grounds))


async def _gate(session: Session, name: str, *, state: str, version: str | None, grounds: Grounds) -> Answer:
    acts = session.gate.catalogue
    versions = await acts.list_versions(name, tenant=session.by.tenant)
    if version is None and len(versions) != 1:
        return problem("USAGE", "A gate is of one version: name it.", next_step="Give --version.")
    version = versions[0].version if version is None else version
    found = await acts.readies(name, _state(state), version=version, by=session.by, reason=grounds)
    values = [(each.need.value, each.stands.value, each.says) for each in found]
    document: list[Json] = [{"need": need, "stands": stands, "says": says} for need, stands, says in values]
    is_lacking = any(stands == "lacking" for _, stands, _ in values)
    text = rows(("Needs", "Stands", "What is said"), values, empty="It needs nothing.")
    return Answer({"gate": document}, text, PROBLEM if is_lacking else DONE)


@verb(app, "sign-off")
async def sign_off(name: Name, *, version: One, reason: Reason) -> Answer:
    """Sign for a version that you have looked at; the gates of moves ask for somebody who did."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        found = await session.gate.catalogue.sign_off(name, version=version, by=session.by, reason=reason)
    text = f"{visible(session.by.id)} has signed for {visible(found.name)} version {visible(found.version)}."
    return Answer({"name": found.name, "version": found.version, "digest": found.digest, "by": session.by.id}, text)


@verb(app, "evidence")
async def evidence(
    name: Name,
    *,
    version: One,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write it there; .md: for people.")] = None,
) -> Answer:
    """Show who moved a version, why, on what, with which impact; or write all of it to a file that proves itself."""
    from interlock.core.canonical import decode
    from interlock.doors.cli.session import visited

    async with visited() as session:
        found = await session.gate.catalogue.evidence(name, version=version, by=session.by)
    text, whole = found.to_markdown(), found.to_json()
    document = decode(whole)
    if out is not None:
        out.write_bytes(text.encode() if out.suffix == ".md" else whole)
    said = text if out is None else f"The evidence of {len(found.packs)} moves is in {visible(str(out))}."
    return Answer(document if isinstance(document, dict) else {}, said)


def moved(versions: Iterable[Registered]) -> Answer:
    """Where versions stand now."""
    found = tuple(versions)
    lines = [f"{visible(each.name)} version {visible(each.version)} is {each.state.value}." for each in found]
    return Answer({"versions": [told(each) for each in found]}, "\n".join(lines))


def told(found: Registered) -> dict[str, Json]:
    """A version for programs."""
    return {
        "name": found.name,
        "version": found.version,
        "source": found.source,
        "digest": found.digest,
        "state": found.state.value,
    }


def _refused(session: Session, what: str) -> Deny | None:
    from interlock.doors.cli.session import not_operator

    return not_operator(session.by, what)


def _state(text: str) -> Lifecycle:
    from interlock.core.errors import MoveRefused
    from interlock.core.lifecycle import Lifecycle as States

    if text not in list(States):
        raise MoveRefused(f"{text!r} is no state: {', '.join(States)}")
    return States(text)


def waived(given: Iterable[str]) -> Mapping[Need, str]:
    """The needs that are waived, each with why. Raises `MoveRefused` for what is none."""
    from interlock.core.errors import MoveRefused
    from interlock.core.lifecycle import Need as Needs

    found = {}
    for each in given:
        need, _, why = each.partition("=")
        if need not in list(Needs):
            raise MoveRefused(f"{need!r} is nothing that a gate needs: {', '.join(Needs)}")
        found[Needs(need)] = why
    return found
