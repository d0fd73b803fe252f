"""Opens the project's gate for one verb: who acts, who sat at the keyboard, and in which store."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace

from interlock.assemble import Gate, Host
from interlock.core.call import Caller, Origin, Principal
from interlock.core.compatibility import Comparison
from interlock.core.decision import Deny
from interlock.core.errors import InterlockError, VersionExists
from interlock.core.functions import Declaration
from interlock.core.refusals import Code
from interlock.core.spec_changes import told
from interlock.core.tool import ToolSpec
from interlock.declare.given import read_policies
from interlock.doors.cli.answer import note
from interlock.doors.cli.code import load_models, load_tools
from interlock.doors.cli.faults import IdAmbiguous, lines_of
from interlock.doors.cli.project import MEMORY, Project, read_project
from interlock.doors.cli.project_settings import Credentials
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import line
from interlock.loop.model import Model
from interlock.runtime.acts import OPERATORS
from interlock.runtime.recovery import Recovered
from interlock.settings import Drives, Publish

Tools = tuple[Declaration, ...]
Models = tuple[Model, ...]

ID_CHARS_MIN = 4
"""How much of an id must be given at least."""

IDS_SHOWN_MAX = 3


@dataclass(frozen=True, slots=True)
class Session:
    """An open gate with the person whom the command line acts as (`by`) and the one who sat at it (`actor`)."""

    project: Project
    gate: Gate
    by: Principal
    actor: str
    models: frozenset[str] = frozenset()

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
        await _in_force(session)
        yield session


@asynccontextmanager
async def driving() -> AsyncIterator[Session]:
    """The same, with the project's models: for the runs that it is asked to drive, and no others."""
    async with _entered(Publish.NEW, load_tools, models=load_models) as session:
        await _in_force(session)
        yield session


async def _in_force(session: Session) -> None:
    """Put the project's policies in force where the store has none."""
    project, gate = session.project, session.gate
    if not await gate.policies.sources():
        if has_policies(project):
            by = replace(project.operator, actor=session.actor)
            await gate.policies.save(read_policies(project.policies), by=by)
            note(f"The policies of {project.policies.name}/ are now in force.")
        else:
            note(f"There is no policy in force, and no .cedar file in {project.policies}: every call is refused.")


@asynccontextmanager
async def as_it_is() -> AsyncIterator[Session]:
    """The project's store with the policies that it has, if any; tools that are new are published."""
    async with _entered(Publish.NEW, load_tools) as session:
        yield session


@asynccontextmanager
async def switching() -> AsyncIterator[Session]:
    """The same, also where the project's code cannot be loaded: closing a tool must not wait until it is mended."""
    async with _entered(Publish.NEW, _loadable) as session:
        yield session


@asynccontextmanager
async def visited() -> AsyncIterator[Session]:
    """The project's store as it is, and the project's tools as far as it has them; nothing is published."""
    async with _entered(Publish.NOTHING, _loadable) as session:
        yield session


@asynccontextmanager
async def reading() -> AsyncIterator[Session]:
    """The project's store as it is, without the project's code: whatever that has come to, the record can be read."""
    async with _entered(Publish.NOTHING, lambda _: ()) as session:
        yield session


def _loadable(project: Project) -> Tools:
    try:
        return load_tools(project)
    except InterlockError as fault:
        note(f"The project's tools cannot be loaded: {fault}")
        return ()


@asynccontextmanager
async def _entered(
    publish: Publish, load: Callable[[Project], Tools], *, models: Callable[[Project], Models] = lambda _: ()
) -> AsyncIterator[Session]:
    project = read_project(line().project)
    by = project.person(line().acting_as)
    settings = replace(project.settings, publish=publish, drives=Drives.NAMED)
    folder, credentials = project.root if project.is_database else None, Credentials(project.credentials)
    host = Host(key_folder=folder, models=models(project), secrets=credentials, seal=project.seal)
    async with Gate.open(project.store, tools=load(project), settings=settings, host=host) as gate:
        await _tell_of_versions(gate)
        settled = settled_in(gate.recovered)
        if settled:
            note(settled)
        names = frozenset(each.name for each in host.models)
        yield Session(project, gate, replace(by, actor=os_user()), os_user(), names)


def settled_in(found: Recovered) -> str:
    """What is to be said where a look at calls that others left open has settled some; empty where it has none."""
    count = found.released + found.found_out
    if not count:
        return ""
    were = "1 call that was left open has been" if count == 1 else f"{count} calls that were left open have been"
    return f"{were} settled: `interlock audit query --kind call.closed` shows what became of it."


async def _tell_of_versions(gate: Gate) -> None:
    """Nobody shall publish a version of a known tool without hearing of it, nor wonder why one cannot be called."""
    for spec in gate.published:
        known = await gate.catalogue.list_versions(spec.name, tenant=spec.tenant)
        before = [each.version for each in known if each.version != spec.version]
        if before:
            note(
                f"{visible(spec.name)} {visible(spec.version)} is published now, beside {visible(', '.join(before))}: "
                "what changes in it from here on needs a version of its own."
            )
    for spec in gate.changed:
        unlike = await changed(spec, gate)
        note("\n    ".join([f"{visible(str(unlike))} It cannot be called as it is.", *lines_of(unlike)]))


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


async def unsaved(session: Session) -> str:
    """What is to be said where the project's policy files are others than those in force; empty where they are not.

    Where none are in force yet, the next verb that calls puts the files in force.
    """
    project, desk = session.project, session.gate.policies
    if (
        not has_policies(project)
        or not await desk.sources()
        or await desk.are_in_force(read_policies(project.policies))
    ):
        return ""
    return f"the files in {project.policies.name}/ differ from what is in force: `interlock policy save`"


async def changed(spec: ToolSpec, gate: Gate) -> VersionExists:
    """What is to be said of a tool that is another than its published version, and in which fields it is."""
    changes = await gate.catalogue.changes(spec)
    says = f"{spec.name} has changed since its version {spec.version} was published ({told(changes)})"
    return VersionExists(f"{says}: give it a new version.", changes)


async def changed_in(project: Project, specs: Iterable[ToolSpec]) -> dict[str, VersionExists]:
    """Those of the specs that the project's store, if there is one, has otherwise under the same version, by name."""
    if not project.is_stored:
        return {}
    async with reading() as session:
        found = await session.gate.catalogue.changed(specs)
        return {spec.name: await changed(spec, session.gate) for spec in found}


async def successions_in(project: Project, specs: Iterable[ToolSpec]) -> tuple[Comparison, ...]:
    """How the specs would follow what the project's store, if there is one, has of their names."""
    if not project.is_stored:
        return ()
    async with reading() as session:
        return await session.gate.catalogue.successions(specs)


async def refuse_changed(name: str, session: Session) -> None:
    """Raise `VersionExists` where somebody means a tool that cannot be called because it has changed."""
    for spec in session.gate.changed:
        if spec.name == name:
            raise await changed(spec, session.gate)


def whole_id(given: str, known: Iterable[str]) -> str:
    """The one id that begins with what was given, or what was given.

    Raises `IdAmbiguous` where several do, or where what was given is too short to be meant.
    """
    ids = frozenset(known)
    found = [] if given in ids or not given else sorted(each for each in ids if each.startswith(given))
    if not found or (len(found) == 1 and len(given) >= ID_CHARS_MIN):
        return found[0] if found else given
    more = [f"and {len(found) - IDS_SHOWN_MAX} more"] if len(found) > IDS_SHOWN_MAX else []
    says = f"{counted(len(found), 'id')} {'begins' if len(found) == 1 else 'begin'} with {given}"
    raise IdAmbiguous(f"{says}: {', '.join([*found[:IDS_SHOWN_MAX], *more])}")


def not_operator(by: Principal, what: str) -> Deny | None:
    """Why this person may not do what only operators do; None where they may."""
    if by.groups & OPERATORS:
        return None
    return Deny(Code.PERMISSION_DENIED, f"{what} takes the group operator; {by.id} does not have it.")


@contextmanager
def working(words: str) -> Iterator[None]:
    """Say that something takes its time, while it does, to a person at a terminal."""
    if line().json or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        yield
