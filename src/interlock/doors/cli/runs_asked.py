"""What a run is asked to start with at the command line: limits by name, and models and agents that the project has."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import problem

if TYPE_CHECKING:
    from interlock.doors.cli.project import Project
    from interlock.doors.cli.session import Session
    from interlock.loop.limits import RunLimits


class LimitInvalid(typer.BadParameter):
    """A text that is no limit, with what to write."""

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(message, param_hint="--limit")
        self.next_step = next_step


def model_missing(session: Session, name: str | None) -> Answer | None:
    """What is to be said where the project does not have that model, or none; None where it has it."""
    named = [each.name for each in session.project.models]
    if not named:
        step = 'Write [[models]] in interlock.toml, with model = "openai:gpt-5-mini" or a server of your own.'
        return problem("MODEL_UNKNOWN", "The project names no model.", next_step=step)
    wanted = named[0] if name is None else name
    if wanted not in named:
        step = "Give --model one of these, or write it under [[models]] in interlock.toml."
        return problem("MODEL_UNKNOWN", f"There is no model {wanted!r}; there is {', '.join(named)}.", next_step=step)
    if wanted not in session.models:
        step = f"Change `model` of {wanted} under [[models]] in interlock.toml, or set its key in the environment."
        return problem("MODEL_UNKNOWN", f"The model {wanted} cannot be asked as it is named.", next_step=step)
    return None


def agent_missing(project: Project, name: str | None) -> Answer | None:
    """What is to be said where the project does not have that agent; None where it has it."""
    names = [each.name for each in project.agents]
    if name is None or name in names:
        return None
    there = f"there is {', '.join(names)}" if names else "the project names none"
    else_ = "give one of these" if names else "leave --agent out"
    step = f"Write [[agents]] with that name in interlock.toml, or {else_}."
    return problem("AGENT_UNKNOWN", f"There is no agent {name!r}; {there}.", next_step=step)


def limits_of(given: list[str]) -> RunLimits | None:
    """Limits by name: whole numbers, but for those of seconds; of one tool as `calls.NAME`."""
    from interlock.loop.limits import RunLimits

    found: dict[str, Any] = {}
    per_tool: dict[str, int] = {}
    for each in given:
        name, _, amount = each.partition("=")
        of_tool = name.partition("calls.")[2] if name.startswith("calls.") else ""
        if not of_tool and (name not in RunLimits.__dataclass_fields__ or name == "calls_per_tool"):
            names = ", ".join([*(n for n in RunLimits.__dataclass_fields__ if n != "calls_per_tool"), "calls.TOOL"])
            raise LimitInvalid(f"{each!r} is no limit.", f"Write NAME=AMOUNT with one of {names}.")
        number, is_time = _number(amount), name.endswith("_s")
        if number is None or (number % 1 and not is_time):
            kind, such = ("a number of seconds", f"{name}=0.5") if is_time else ("a whole number", f"{name}=10")
            raise LimitInvalid(f"{each!r} has no amount that is {kind} from 0.", f"Write it as --limit {such}.")
        if of_tool:
            per_tool[of_tool] = int(number)
        else:
            found[name] = number if is_time else int(number)
    return RunLimits(**found, calls_per_tool=per_tool) if given else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
