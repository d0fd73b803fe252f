"""Opens the project's gate for one verb: who acts, who sat at the keyboard, and in which store."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace

from interlock.assemble import Gate, read_policies
from interlock.core.call import Caller, Origin, Principal
from interlock.core.decision import Deny
from interlock.core.refusals import Code
from interlock.doors.cli.answer import note
from interlock.doors.cli.code import load_tools
from interlock.doors.cli.project import MEMORY, Project, read_project
from interlock.doors.cli.verb import line
from interlock.runtime.acts import OPERATORS


@dataclass(frozen=True, slots=True)
class Session:
    """An open gate with the person whom the command line acts as (`by`) and the one who sat at it (`actor`)."""

    project: Project
    gate: Gate
    by: Principal
    actor: str

    def caller(self, *, run: str | None = None, task: str | None = None, key: str | None = None) -> Caller:
        """Who a call is made for. A person typed it, so tools that only a user may choose are open."""
        return replace(self.caller_as(self.by, run=run, task=task), key=key)

    def caller_as(self, principal: Principal, *, run: str | None = None, task: str | None = None) -> Caller:
        """The same for somebody else, whom a case of the policies makes up."""
        origin = Origin(door="cli", actor=self.actor)
        return Caller(principal, run=run, task=task, origin=origin, user_requested=True)


def os_user() -> str:
    """The account that this process runs under, which no environment variable can change."""
    uid = os.getuid()
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


@asynccontextmanager
async def opened() -> AsyncIterator[Session]:
    """The project's store. Where it has no policies, the project's are put in force; later only `policy save` does."""
    async with as_it_is() as session:
        project, gate = session.project, session.gate
        if has_policies(project) and not await gate.policies.sources():
            await gate.policies.save(read_policies(project.policies), by=replace(project.operator, actor=session.actor))
            note(f"The policies of {project.policies.name}/ are now in force.")
        yield session


@asynccontextmanager
async def as_it_is() -> AsyncIterator[Session]:
    """The project's store with the policies that it has, if any."""
    project = read_project(line().project)
    by = project.person(line().acting_as)
    async with Gate.open(project.store, tools=load_tools(project), settings=project.settings) as gate:
        yield Session(project, gate, replace(by, actor=os_user()), os_user())


@asynccontextmanager
async def tried() -> AsyncIterator[Session]:
    """The project's tools and policy files in a store of their own that is thrown away: nothing is kept of it."""
    project = read_project(line().project)
    by = project.person(line().acting_as)
    policies = project.policies if has_policies(project) else None
    async with Gate.open(MEMORY, tools=load_tools(project), policies=policies, settings=project.settings) as gate:
        yield Session(project, gate, replace(by, actor=os_user()), os_user())


def has_policies(project: Project) -> bool:
    """Whether the project's folder holds a policy file."""
    return any(project.policies.glob("*.cedar"))


def not_operator(by: Principal, what: str) -> Deny | None:
    """Why this person may not do what only operators do; None where they may."""
    if by.groups & OPERATORS:
        return None
    return Deny(Code.PERMISSION_DENIED, f"{what} takes the group operator; {by.id} does not have it.")


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether to go on: asked of a person at a terminal, taken as said where there is none."""
    if yes or not sys.stdin.isatty():
        return True
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@contextmanager
def working(words: str) -> Iterator[None]:
    """Say that something takes its time, while it does, to a person at a terminal."""
    if line().json or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield
