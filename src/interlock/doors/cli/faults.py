"""Turns whatever went wrong into one sentence that says what to do next; no traceback unless it is asked for."""

from __future__ import annotations

import os
import re
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.core.errors import InterlockError, MoveRefused, SettingsInvalid, VersionExists
from interlock.doors.cli.answer import PROBLEM, REFUSED, USAGE, Answer, note
from interlock.doors.cli.shown import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.core.canonical import Json
    from interlock.core.decision import Deny
    from interlock.core.spec_changes import SpecChange

DEBUG = "INTERLOCK_DEBUG"

SHOWN_MAX = 20
"""How many fields of a changed tool are shown to people; programs are told all."""


class ProjectMissing(SettingsInvalid):
    """There is no project where one was looked for."""


class ToolsInvalid(SettingsInvalid):
    """The files or modules that should declare the project's tools cannot be loaded, or declare none."""


class CasesInvalid(SettingsInvalid):
    """The cases that test the project's policies cannot be read, or there are none."""


class ExamplesInvalid(SettingsInvalid):
    """The examples of the project's tools cannot be read, or there are none."""


class IdAmbiguous(InterlockError):
    """Several things have ids that begin with what was given."""


VERSIONED = (
    'Give the tool a new version, such as @tool(version="2", ...), or put back what differs: what is published never'
    " changes."
)

_NEXT = {
    "KeyInvalid": "Put the key file back from a copy: the store opens with no other.",
    "ProjectMissing": "`interlock init` makes one here; --project DIR names one that is elsewhere.",
    "ToolsInvalid": "Change that, or [interlock] tools in interlock.toml, then `interlock tools check`.",
    "CasesInvalid": "Change the case, then `interlock policy test`.",
    "ExamplesInvalid": "Change the example, then `interlock tools test`.",
    "IdAmbiguous": "Give more of the id, at least four characters.",
    "SettingsInvalid": "Change interlock.toml, then `interlock doctor` looks whether everything is in order.",
    "SpecInvalid": "Change the tool, then `interlock tools check`.",
    "SchemaInvalid": "Change the tool's schema, then `interlock tools check`.",
    "VersionExists": VERSIONED,
    "ToolNotFound": "`interlock tools list` shows what this person may call, --all what else there is.",
    "ToolUnknown": "`interlock tools list --all` shows which tools there are, `tools show NAME` the versions of one.",
    "ActRefused": "Let an operator do it, with --as ID: [[people]] in interlock.toml says who is in which groups.",
    "ApprovalUnknown": "`interlock approvals list --all` shows which there are.",
    "RunUnknown": "`interlock runs list --all` shows which there are.",
    "RunExists": "Give another --run, or leave it out.",
    "ModelUnknown": "Name it under [[models]] in interlock.toml, with its key in the environment.",
    "AgentInvalid": "Change the agent; `interlock agents show` says how it stands.",
    "AgentUnknown": "`interlock agents list` shows which there are.",
    "DocumentChanged": "Look at it again, then make your change to what is there now.",
    "DocumentInvalid": "Give a shorter name or less of it, in characters that can be kept.",
    "PolicyInvalid": "Change the policy, then `interlock policy check`.",
    "RedactionInvalid": "Use a secret of at least six characters.",
    "StoreClosed": "Run the command again; `interlock doctor` says whether the store is whole.",
    "StoreFull": "Make room on that disk, then give the command again: nothing that was answered is lost.",
    "StoreMoved": "Change [interlock] store in interlock.toml to where it is now.",
    "BackupInvalid": "Do not rely on this file: take another one, and look what happened to it.",
    "NotWritten": "Give another place, or make room in that one.",
    "StoreNewer": "Install the newer Interlock that wrote this store.",
    "StoreError": "`interlock doctor` says whether the store is whole.",
}
_UNEXPECTED_NEXT = f"{DEBUG}=1 in front of the command shows where it happened."


def problem(code: str, message: str, *, next_step: str, exit_code: int = PROBLEM) -> Answer:
    """The answer of a verb that could not do what was asked for."""
    error = {"code": code, "message": message, "next": next_step}
    return Answer({"error": {**error}}, f"{code}: {visible(message)}\nNext: {visible(next_step)}", exit_code)


def refusal(deny: Deny, *, next_step: str = "") -> Answer:
    """The answer where a desk refused: its sentence, its code, and what may help a person."""
    from interlock.core.refusals import Code
    from interlock.doors.cli.steps import OTHER, step_for

    step = next_step or (OTHER if deny.code is Code.PERMISSION_DENIED else step_for(deny.code))
    return problem(deny.code.value, deny.message, next_step=step, exit_code=REFUSED)


def answer_for(fault: BaseException) -> Answer:
    """The answer for an exception, whichever it is."""
    _show_if_asked(fault)
    usage = getattr(fault, "format_message", None)
    if callable(usage):
        return _misunderstood(fault, str(usage()))
    if isinstance(fault, InterlockError):
        code = _spelled(type(fault).__name__)
        answer = problem(code, str(fault), next_step=_step_after(fault))
        return _detailed(answer, fault) if isinstance(fault, VersionExists) and fault.changes else answer
    if type(fault).__module__.partition(".")[0] == "apsw":
        return problem("STORE_ERROR", str(fault), next_step=_NEXT["StoreError"])
    if isinstance(fault, OSError):
        return problem("FILE_UNUSABLE", of_system(fault), next_step="Look whether the path is right and may be used.")
    return problem("UNEXPECTED", f"{type(fault).__name__}: {_redacted(str(fault))}", next_step=_UNEXPECTED_NEXT)


def _step_after(fault: InterlockError) -> str:
    if isinstance(fault, MoveRefused):
        from interlock.doors.cli.move_steps import step_of

        return step_of(fault.halt)
    steps = [_NEXT[kind.__name__] for kind in type(fault).__mro__ if kind.__name__ in _NEXT]
    return steps[0] if steps else _UNEXPECTED_NEXT


def _detailed(answer: Answer, fault: VersionExists) -> Answer:
    """The same with what is another than it was published: before the next step, and for programs as details."""
    error, (says, step) = answer.document["error"], answer.text.rsplit("\n", 1)
    details: dict[str, Json] = {"changes": changes_document(fault.changes)}
    document: dict[str, Json] = {"error": {**error, "details": details} if isinstance(error, dict) else error}
    text = "\n".join([says, *(f"    {line}" for line in lines_of(fault)), step])
    return replace(answer, document=document, text=text)


def lines_of(fault: VersionExists) -> list[str]:
    """The fields that differ, one a line, made visible already."""
    more = len(fault.changes) - SHOWN_MAX
    return [*(each.line for each in fault.changes[:SHOWN_MAX]), *([f"and {more} more"] if more > 0 else [])]


def changes_document(changes: Iterable[SpecChange]) -> list[Json]:
    """Fields that differ, for programs."""
    return [{"field": each.field, "before": each.before, "now": each.now} for each in changes]


def of_system(fault: OSError) -> str:
    """What the system says, without its number."""
    return f"{fault.filename}: {fault.strerror}" if fault.filename and fault.strerror else str(fault)


def _misunderstood(fault: BaseException, says: str) -> Answer:
    path = getattr(getattr(fault, "ctx", None), "command_path", "interlock")
    step = getattr(fault, "next_step", None) or f"`{path} --help` shows what it takes."
    return problem("USAGE", says, next_step=step, exit_code=USAGE)


def missing(file: Path) -> Answer:
    """The answer where a file that a verb is to read is not there."""
    return problem("FILE_UNUSABLE", f"There is no file {file}.", next_step="Look whether the path is right.")


def is_debugging() -> bool:
    """Whether whoever gave the command wants to see where things went wrong."""
    return os.environ.get(DEBUG) == "1"


def _show_if_asked(fault: BaseException) -> None:
    if is_debugging():
        note(visible(_redacted("".join(traceback.format_exception(fault)))))


def _redacted(text: str) -> str:
    from interlock.core.redaction import Redactor

    return Redactor().text(text)


def _spelled(name: str) -> str:
    """`StoreNewer` as `STORE_NEWER`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
