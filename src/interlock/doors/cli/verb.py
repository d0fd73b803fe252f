"""Makes a function a verb of the command line, with the options that every verb has."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Coroutine
from contextlib import redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TextIO, get_type_hints

import typer

from interlock.doors.cli.answer import Answer

Verb = Callable[..., Coroutine[Any, Any, Answer]]


@dataclass(frozen=True, slots=True)
class Line:
    """What every command line may say, whatever its verb. `out` is where answers go that are given as they come."""

    json: bool = False
    project: Path | None = None
    acting_as: str | None = None
    out: TextIO = sys.stdout


_line: ContextVar[Line] = ContextVar("line")

_SHARED: dict[str, tuple[Any, object]] = {
    "json_": (Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")], False),
    "project_": (
        Annotated[
            Path | None,
            typer.Option("--project", metavar="DIR", help="The project's folder; default: this one, or one above it."),
        ],
        None,
    ),
    "as_": (
        Annotated[
            str | None,
            typer.Option("--as", metavar="ID", help="One of the project's [[people]]; default: its [operator]."),
        ],
        None,
    ),
}


def line() -> Line:
    """The command line that is being answered."""
    return _line.get()


def verb(app: typer.Typer, name: str) -> Callable[[Verb], Verb]:
    """Register an async function as the verb `name`. What its code prints goes to standard error."""

    def register(function: Verb) -> Verb:
        @wraps(function)
        def command(*, json_: bool, project_: Path | None, as_: str | None, **given: object) -> Answer:
            held = _line.set(Line(json_, project_, as_, sys.stdout))
            try:
                # A tool that prints must not get between a program and the one document that it reads.
                with redirect_stdout(sys.stderr):
                    return asyncio.run(function(**given))
            finally:
                _line.reset(held)

        _describe(command, function)
        app.command(name)(command)
        return function

    return register


def _describe(command: Callable[..., object], function: Verb) -> None:
    """Give the command the function's parameters and the shared ones, which typer reads from its signature."""
    hints = get_type_hints(function, include_extras=True)
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
        for name, (hint, default) in _SHARED.items()
    ]
    own = [
        each.replace(annotation=hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for each in inspect.signature(function).parameters.values()
    ]
    command.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    command.__annotations__ = {**hints, **{name: hint for name, (hint, _) in _SHARED.items()}}
