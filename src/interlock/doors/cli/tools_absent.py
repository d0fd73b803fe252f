"""What is said of a name that leads to no tool: to an operator what it is, to anybody the nearest that they may see."""

from __future__ import annotations

import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

from interlock.core.lifecycle import CLOSED, Lifecycle
from interlock.doors.cli.shown import visible
from interlock.doors.cli.steps import step_for
from interlock.doors.cli.tools_promote import here
from interlock.runtime.acts import AUDITORS, OPERATORS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from interlock.doors.cli.project import Project
    from interlock.doors.cli.session import Session
    from interlock.ports import Registered

NEAR_MAX = 3


async def step_to(session: Session, name: str) -> str:
    """What an operator or auditor may do about a name that they cannot call; empty for others, and where it is nothing.

    What there is that a person may not see is told to nobody else: a call of it is answered as if there were none.
    """
    if not session.by.groups & (OPERATORS | AUDITORS):
        return ""
    held = await step_past_promotion(session, name) or " ".join(imported(session.project, name))
    versions = await session.gate.catalogue.list_versions(name, tenant=session.by.tenant)
    return held or (_published(session, name, versions) if versions else "")


async def step_past_promotion(session: Session, name: str) -> str:
    """What operators and auditors may do where a promotion holds a name at what is gone, or not here; else nothing."""
    from interlock.doors.cli.tools_standing import outlived, unlisted

    if not session.by.groups & (OPERATORS | AUDITORS):
        return ""
    lost = {**await unlisted(session, [name]), **await outlived(session, [name])}
    return lost.get(name, "")


def closed(name: str, version: str, state: Lifecycle) -> str:
    """Of a version that takes no calls, what it is and what opens it; empty where it takes some."""
    if state not in CLOSED:
        return ""
    says = f"{visible(name)} {visible(version)} is"
    if state is not Lifecycle.CANDIDATE:
        return f"{says} {state.value}. {step_for(CLOSED[state], tool=name)}"
    move = f"`interlock tools move {shlex.quote(name)} available --version {shlex.quote(version)} --reason WHY`"
    gate = f"{move}, with --check to see what that asks for"
    return f"{says} a candidate, and takes no calls before it has passed its gate: {gate}."


def imported(project: Project, name: str) -> Iterator[str]:
    """What the project's snapshots hold under a name that makes no tool now, and what to do about it."""
    for path, (entries, not_tools) in _snapshots(project):
        for key, (named, is_allowed) in entries.items():
            if name not in (key, named):
                continue
            which = f"{visible(name)} is the entry {visible(key)} of {visible(path.name)}"
            if is_allowed:
                yield f"{which}, allowed, and no tool as it is: `interlock doctor` says why."
            else:
                yield f"{which}, and is closed: review it there, set allow: true, then call it again."
        if name in not_tools:
            yield f"{visible(name)} is listed in {visible(path.name)} and can be no tool: {visible(not_tools[name])}."


def near(session: Session, name: str) -> Sequence[str]:
    """The names nearest to this one, of those that the person may see."""
    from interlock.core.catalogue import nearest

    seen = (tool.spec.name for tool in session.gate.catalogue.visible(session.caller()))
    return nearest(name, seen)[:NEAR_MAX]


def _published(session: Session, name: str, versions: Sequence[Registered]) -> str:
    newest = versions[-1]
    if all(each.state is Lifecycle.CANDIDATE for each in versions):
        return closed(name, newest.version, newest.state)
    seen = {tool.spec.name for tool in session.gate.catalogue.visible(session.caller())}
    if name in seen:
        return ""
    if not here(session, name):
        code = f"{visible(name)} is published, but the code of none of its versions is in this project: it cannot be"
        return f"{code} called from here. Put it back, and name its file in interlock.toml."
    explain = f"`interlock policy explain {shlex.quote(name)}`"
    shows = f"`interlock tools show {shlex.quote(name)}`"
    return (
        f"{visible(name)} is there, but not for {visible(session.by.id)}: {explain} says what policy says of it,"
        f" {shows} where its versions stand."
    )


_Held = tuple["Mapping[str, tuple[str, bool]]", "Mapping[str, str]"]
"""The entries of a snapshot, by key (name, whether it is allowed), and what can be no tool, with the reason."""


def _snapshots(project: Project) -> Iterator[tuple[Path, _Held]]:
    """What each snapshot holds that can be read; of the others whoever loads the tools has been told already."""
    from interlock.core.errors import SpecInvalid

    for places, held in ((project.openapi, _operations), (project.mcp, _tools)):
        for path in (project.root / place for place in places):
            with suppress(SpecInvalid, OSError):
                yield path, held(path)


def _operations(path: Path) -> _Held:
    from interlock.importers.openapi import read_snapshot

    found = read_snapshot(path.read_bytes())
    return {key: (each.name, each.allow) for key, each in found.operations.items()}, found.not_tools


def _tools(path: Path) -> _Held:
    from interlock.importers.mcp import read_mcp_snapshot

    found = read_mcp_snapshot(path.read_bytes())
    return {key: (each.name, each.allow) for key, each in found.tools.items()}, found.not_tools
