"""The command `interlock`: puts the verbs together, and turns whatever happens into one answer and an exit code."""

from __future__ import annotations

import gc
import io
import logging
import os
import sys
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from typing import Annotated, Final

import typer
from typer.core import TyperGroup
from typer.main import get_group

from interlock.doors.cli import (
    agents,
    approvals,
    audit,
    backup,
    call,
    calls,
    checkout,
    compensate,
    doctor,
    imports_sync,
    init,
    policy,
    runs_move,
    store,
    tools,
)
from interlock.doors.cli.answer import INTERRUPTED, PROBLEM, Answer, note, say
from interlock.doors.cli.asking import heard
from interlock.doors.cli.faults import answer_for, is_debugging, problem
from interlock.doors.cli.shown import visible

SHARED: Final = {"--json": False, "--project": True, "--as": True}
"""Options that every verb has, and whether a value follows."""

_MADE_MAX: Final = 100_000
"""How many objects a command may have made, beyond those that are gone, before garbage is looked for."""

Parts = tuple[tuple[str | None, typer.Typer], ...]
"""Verbs with the name of their group; those without stand at the top."""


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(version("interlock"))
        raise typer.Exit


def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Interlock: a model proposes, the gate decides, and it runs once.

    Every verb takes --json, --project DIR and --as ID, behind it or in front of it. Begin with `interlock init notes`.
    """


PARTS: Final[Parts] = (
    (None, init.app),
    (None, call.app),
    ("tools", tools.app),
    ("import", imports_sync.app),
    ("agents", agents.app),
    ("policy", policy.app),
    ("approvals", approvals.app),
    ("runs", runs_move.app),
    ("audit", audit.app),
    ("backup", backup.app),
    ("store", store.app),
    ("calls", calls.app),
    ("compensate", compensate.app),
    (None, calls.top),
    (None, doctor.app),
    (None, checkout.app),
)


def together(parts: Parts) -> typer.Typer:
    """The command with these parts."""
    made = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
    made.callback()(root)
    for name, part in parts:
        made.add_typer(part, name=name)
    return made


app = together(PARTS)


def main() -> None:
    """The entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    _keep_logs_from_the_terminal()
    # Most of what a command makes is what it imports, which stays: looking through that for garbage finds none.
    gc.set_threshold(_MADE_MAX)
    try:
        code = run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Who read the output has had enough; Python would complain of it once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = PROBLEM
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Answer one command line; its exit code. Raises only where the answer cannot be written."""
    as_json = "--json" in takewhile(lambda word: word != "--", arguments)
    answer = _answered(arguments)
    return say(answer, as_json=as_json) if isinstance(answer, Answer) else answer


def in_order(arguments: Sequence[str]) -> list[str]:
    """The command line with options that every verb has behind the verb, where they may stand in front as well."""
    front, rest = list[str](), list(arguments)
    while rest and (takes := SHARED.get(rest[0].partition("=")[0])) is not None:
        count = 1 + (takes and "=" not in rest[0])
        front += rest[:count]
        del rest[:count]
    if not rest:
        return []
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *front, *rest[end:]]


def tree_for(word: str) -> TyperGroup:
    """The verbs among which the first word of a command line is: of its group alone, else those at the top, else all.

    Making them takes Typer longer than most of them take, so none is made that is not asked for.
    """
    if word in {name for name, _ in PARTS}:
        return _tree(word)
    return top if word in (top := _tree(None)).commands else _whole_tree()


@cache
def _tree(group: str | None) -> TyperGroup:
    return get_group(together(tuple((name, part) for name, part in PARTS if name == group)))


@cache
def _whole_tree() -> TyperGroup:
    return get_group(app)


def with_verb(command: object, arguments: list[str]) -> list[str]:
    """The same, asking for help where a group of verbs is named and none of them."""
    for word in arguments:
        command = getattr(command, "commands", {}).get(word)
    return [*arguments, "--help"] if hasattr(command, "commands") else arguments


class Screen(logging.Handler):
    """Shows what Interlock logs, such as the traceback of a tool, only to who debugs: it holds a tool's own words."""

    def emit(self, record: logging.LogRecord) -> None:
        """Show it, made visible."""
        if is_debugging():
            note(visible(record.getMessage()))


def _keep_logs_from_the_terminal() -> None:
    logger = logging.getLogger("interlock")
    logger.addHandler(Screen())
    logger.propagate = False


def _answered(arguments: Sequence[str]) -> Answer | int:
    """The verb's answer, or the exit code of what has been said already, such as help."""
    heard(arguments)
    words = in_order(arguments)
    command = tree_for(words[0] if words else "")
    try:
        answer = command.main(with_verb(command, words), prog_name="interlock", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        answer = INTERRUPTED
    except Exception as fault:  # noqa: BLE001 - whatever happens to a command, who gave it gets an answer
        return answer_for(fault)
    if answer == INTERRUPTED:
        step = "`interlock recover` looks up what was under way."
        return problem("INTERRUPTED", "Stopped.", next_step=step, exit_code=INTERRUPTED)
    return answer if isinstance(answer, Answer) else int(answer or 0)
