"""Whether what a run is to be started with are options at all: what is misspelled, missing or of another kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from interlock.core.budget import Limits
from interlock.core.call import Principal
from interlock.core.catalogue import nearest
from interlock.core.errors import SettingsInvalid
from interlock.loop.agent import Agent
from interlock.loop.entries import Bound, Check
from interlock.loop.limits import RunLimits

REQUIRED: Final = ("model", "task", "principal")
KINDS: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "principal": ((Principal,), "a Principal, such as Principal(tenant, id)"),
    "agent": ((Agent, str), "an Agent, or its name"),
    "limits": ((RunLimits, Limits, type(None)), "RunLimits(...)"),
    "check": ((Check, type(None)), "a Check(tool, arguments)"),
}


def check_options(given: Mapping[str, object], known: Collection[str]) -> None:
    """Raises `SettingsInvalid`, which names the option and what to do."""
    for name in given:
        if name not in known:
            raise SettingsInvalid(f"a run has no option {name!r}{_meant(name, known)}; there are {', '.join(known)}")
    for name in REQUIRED:
        if name not in given:
            raise SettingsInvalid(f"a run needs {name}=...: give it to runs.start")
    for name, (kinds, what) in KINDS.items():
        if name in given and not isinstance(given[name], kinds):
            raise SettingsInvalid(f"{name} is {what}, not {given[name]!r:.80}")
    most = given.get("tools_max")
    if most is not None and (type(most) is not int or most < 1):
        raise SettingsInvalid(f"tools_max is a whole number from 1, not {most!r:.80}")
    tools, agents = given.get("tools"), given.get("agents", ())
    if isinstance(tools, str):
        raise SettingsInvalid(f"tools is a collection of names, not one text: give tools=[{tools!r:.80}]")
    if not isinstance(agents, Iterable):
        raise SettingsInvalid("agents is a collection of Agent: give agents=[Agent(...)]")


def check_limited(limits: RunLimits, bound: Iterable[Bound]) -> None:
    """Every tool that has a limit is one of the run. Raises `SettingsInvalid`."""
    names = [each.name for each in bound]
    for name in limits.calls_per_tool:
        if name not in names:
            which = f"limits: calls_per_tool names {name!r}, which is no tool of this run"
            raise SettingsInvalid(f"{which}{_meant(name, names)}: look how it is spelled, and what policies permit")


def _meant(name: str, known: Collection[str]) -> str:
    close = nearest(name, known)
    return f" (do you mean {close[0]!r}?)" if close else ""
