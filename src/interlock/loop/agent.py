"""An agent: a role under which a model works on a task, and to whom it may hand the task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.core.call import is_storable
from interlock.core.errors import SettingsInvalid

NAME_CHARACTERS_MAX = 64


@dataclass(frozen=True, slots=True)
class Agent:
    """What a model is told it is, and what it gets. It has no authority of its own: that is its principal's, by policy,
    which sees the agent's name.

    `model` names another model than the run's. `tools`: names that are offered of those that policy allows; None: all.
    `hand_offs` are names of agents that it may hand the task to. `description` is what those who may hand it the task
    are told of it.
    """

    name: str
    instructions: str = ""
    description: str = ""
    model: str = ""
    tools: Sequence[str] | None = None
    hand_offs: Sequence[str] = ()

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not 0 < len(name) <= NAME_CHARACTERS_MAX or not is_storable(name):
            raise SettingsInvalid(f"an agent's name is 1 to {NAME_CHARACTERS_MAX} characters, not {self.name!r}")
        for part in ("tools", "hand_offs"):
            given: object = getattr(self, part)
            if isinstance(given, str):
                raise SettingsInvalid(f"agent {self.name}: {part} is a collection of names, not one text")
            if given is not None:
                object.__setattr__(self, part, tuple(getattr(self, part)))


def by_name(agents: tuple[Agent, ...]) -> dict[str, Agent]:
    """The agents of one run. Raises `SettingsInvalid` where two share a name, or one may hand off to nobody known."""
    found = {agent.name: agent for agent in agents}
    if len(found) != len(agents):
        twice = next(name for name, count in Counter(agent.name for agent in agents).items() if count > 1)
        raise SettingsInvalid(f"two agents have one name: give one of those called {twice!r} another")
    for agent in agents:
        missing = sorted(set(agent.hand_offs) - found.keys())
        if missing:
            who = f"agent {agent.name} may hand off to {missing[0]}, which there is not"
            raise SettingsInvalid(f"{who}: give it in agents=[...]")
    return found
