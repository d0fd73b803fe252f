"""Where versions stand, as listings show it: state, default, notice, stops, and the day of their next review."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from interlock.core.errors import ToolUnknown
from interlock.core.lifecycle import NAMED, Lifecycle
from interlock.doors.cli.answer import note
from interlock.doors.cli.shown import visible
from interlock.doors.cli.tools_moves import told
from interlock.doors.cli.tools_promote import here, uncoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from interlock.core.canonical import Json
    from interlock.core.catalogue import Tool
    from interlock.doors.cli.session import Session
    from interlock.ports import Registered


async def standing(session: Session, tool: Tool, versions: Iterable[Registered]) -> list[dict[str, Json]]:
    """Each version for programs, with all that is known of where it stands."""
    days = await session.gate.catalogue.review_days(tenant=session.by.tenant)
    return [_standing(each, tool, days) for each in versions]


def lines_of(found: Iterable[Mapping[str, Json]]) -> list[str]:
    """The same for people, a text for each version."""
    lines = []
    for each in found:
        words = [f"{each['version']} {each['state']}"]
        words += ["is what the name means"] if each["default"] else []
        words += [str(each["notice"])] if each.get("notice") else []
        words += [f"{each['instead']} takes its place"] if each.get("instead") else []
        words += [f"to be reviewed on {each['review_on']}"] if each.get("review_on") else []
        lines.append(", ".join(words))
    return lines


async def overdue(session: Session) -> list[str]:
    """A sentence for each version whose day of review is past, and for each stop that stands."""
    acts, by = session.gate.catalogue, session.by
    late = await reviews_due(session)
    lines = [f"{visible(name)} {visible(version)} was to be reviewed on {day}." for name, version, day in late]
    return lines + [
        f"Stopped: {visible(each.scope.words)} ({visible(each.reason)})." for each in await acts.stops(by=by)
    ]


async def reviews_due(session: Session) -> list[tuple[str, str, str]]:
    """Name, version and day of each review that should have been by today."""
    today = datetime.now(UTC).date().isoformat()
    days = await session.gate.catalogue.review_days(tenant=session.by.tenant)
    return [(*place, day) for place, day in sorted(days.items()) if day <= today]


async def unlisted(session: Session, names: Iterable[str]) -> dict[str, str]:
    """Of these names those that mean a version whose code is not here, each with a sentence that says so."""
    defaults = await session.gate.catalogue.defaults(tenant=session.by.tenant)
    meant = {name: defaults[name].version for name in sorted(names) if name in defaults}
    return {name: uncoded(name, version) for name, version in meant.items() if version not in ("", here(session, name))}


async def outlived(session: Session, names: Iterable[str]) -> dict[str, str]:
    """Of these names those that a promotion holds at a retired version while another could serve, with what to do."""
    acts, tenant = session.gate.catalogue, session.by.tenant
    defaults = await acts.defaults(tenant=tenant)
    found = {}
    for name in sorted(set(names) & defaults.keys()):
        versions = await acts.list_versions(name, tenant=tenant)
        held = next((each for each in versions if each.version == defaults[name].version), None)
        if held is not None and held.state is Lifecycle.RETIRED and any(each.state in NAMED for each in versions):
            found[name] = _held(name, held.version)
    return found


def _held(name: str, version: str) -> str:
    return (
        f"{visible(name)} was promoted to version {visible(version)}, which is retired: `interlock tools promote"
        f" {shlex.quote(name)} --newest --reason WHY` lets the name mean what is published last."
    )


async def meant(session: Session, name: str, versions: Sequence[Registered]) -> tuple[Tool, str]:
    """The version that a name means, and what is to be said where its code is not here. Raises `ToolUnknown`."""
    try:
        return session.gate.catalogue.get(name, tenant=session.by.tenant), ""
    except ToolUnknown:
        if not versions:
            raise
    from interlock.core.lifecycle import precedence

    default = await session.gate.catalogue.default(name, tenant=session.by.tenant)
    promoted = [each for each in versions if default is not None and each.version == default.version]
    found = promoted[0] if promoted else max(reversed(versions), key=lambda each: precedence(each.state))
    return _compiled(found), uncoded(name, found.version)


async def others_of(session: Session, listed: Iterable[Tool]) -> tuple[Tool, ...]:
    """Every published version but those that are listed, newest first. One that cannot be read is told."""
    from interlock.core.errors import SpecInvalid

    digests, found = {tool.digest for tool in listed}, []
    for each in reversed(await session.gate.catalogue.all_versions(tenant=session.by.tenant)):
        if each.digest in digests:
            continue
        try:
            found.append(_compiled(each))
        except SpecInvalid as fault:
            note(visible(str(fault)))
    return tuple(found)


def published(name: str, version: str, versions: Iterable[Registered]) -> Tool:
    """One version of a name as it was published, whether its code is here or not. Raises `ToolUnknown`."""
    by_version = {each.version: each for each in versions}
    if version not in by_version:
        raise ToolUnknown(f"{name} has no version {version!r}; there are {', '.join(by_version)}")
    return _compiled(by_version[version])


def _compiled(found: Registered) -> Tool:
    """The tool that a version describes. Raises `SpecInvalid` where it cannot be read."""
    from interlock.core.listed import spec_in
    from interlock.core.retirement import read
    from interlock.core.tool_compile import compile_tool

    spec = spec_in(found.spec, name=found.name, version=found.version)
    return compile_tool(spec, state=found.state, retirement=read(found.retirement))


def _standing(found: Registered, tool: Tool, days: Mapping[tuple[str, str], str]) -> dict[str, Json]:
    from interlock.core.canonical import decode
    from interlock.core.retirement import day, read

    going = read(found.retirement)
    is_default = found.digest == tool.digest
    shown: dict[str, Json] = {**told(found), "default": is_default}
    if is_default and tool.state is not found.state:
        shown["stopped"] = True
    if going is not None:
        verb = "retired" if going.retired_us is not None else "to be retired"
        shown["notice"] = f"{verb} on {day(going.retired_us or going.retires_us)}"
        shown["instead"] = "" if going.replacement is None else going.replacement.name
        shown["retirement"] = decode(found.retirement.encode())
    if (found.name, found.version) in days:
        shown["review_on"] = days[found.name, found.version]
    return shown
