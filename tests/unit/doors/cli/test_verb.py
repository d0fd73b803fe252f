"""Verbs: shared options on each, async functions beneath, prints kept out of the answer."""

import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer
import typer.main

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.verb import Line, line, verb

app = typer.Typer()
seen: list[Line] = []


@verb(app, "greet")
async def greet(name: str, *, loud: Annotated[bool, typer.Option("--loud")] = False) -> Answer:
    """Greet."""
    seen.append(line())
    print("by the way")  # noqa: T201
    return Answer({}, f"hello {name}{'!' if loud else ''}")


def give(*arguments: str) -> object:
    return typer.main.get_command(app).main([*arguments], standalone_mode=False)


def test_a_verb_takes_its_own_options_and_the_shared_ones() -> None:
    assert give("ann", "--loud", "--json", "--project", "p", "--as", "bob") == Answer({}, "hello ann!")
    assert seen[-1] == Line(json=True, project=Path("p"), acting_as="bob", out=sys.stdout)
    assert give("ann") == Answer({}, "hello ann")
    assert seen[-1] == Line(out=sys.stdout)


@pytest.mark.requirement("DOOR-6")
def test_what_a_tool_prints_does_not_get_into_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    give("ann")
    assert capsys.readouterr() == ("", "by the way\n")


def test_outside_a_verb_there_is_no_command_line() -> None:
    with pytest.raises(LookupError):
        line()
