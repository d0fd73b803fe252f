"""Asks a person before what changes things for good, and says how the same command is given where nobody was asked."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final

from interlock.doors.cli.answer import Answer, note
from interlock.doors.cli.faults import problem
from interlock.doors.cli.shown import visible

AGREED: Final = "--yes"

_given: ContextVar[tuple[str, ...]] = ContextVar("given", default=())


def heard(arguments: Sequence[str]) -> None:
    """Keep the command line that is being answered, as it was given."""
    _given.set(tuple(arguments))


def unconfirmed(
    question: str, *, yes: bool, undone: str = "Nothing was changed.", otherwise: str = ""
) -> Answer | None:
    """The answer of a verb to which nobody said yes; None where somebody did, at the terminal or beforehand.

    Its step is the whole command with --yes, so that what it does is what was asked for and no more.
    """
    if yes or _said_yes(question):
        return None
    step = f"{again()} does it without asking.{' ' + otherwise if otherwise else ''}"
    return problem("NOT_CONFIRMED", undone, next_step=step)


def again() -> str:
    """The command as it was given, quoted for a shell, with --yes."""
    words = _given.get()
    end = words.index("--") if "--" in words else len(words)
    command = shlex.join(["interlock", *words[:end], AGREED, *words[end:]])
    # What had to be spelled out to be seen would be another command.
    return f"`{command}`" if visible(command) == command else f"The same command with {AGREED}"


def _said_yes(question: str) -> bool:
    """Whether a person said yes. Where nobody sits nobody is asked, and it is no."""
    if not sys.stdin.isatty():
        note("Nobody sits here to be asked: standard input is no terminal.")
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
