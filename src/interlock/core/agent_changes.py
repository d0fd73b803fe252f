"""What becomes of an agent that is saved anew: the way back is kept, and so are those who have a canary's version.

Pure: the defaults of the moment, the time and the salts of new canaries are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from interlock.core.agents import AgentTools, Canary, Earlier, ToolUse, Upgrade
from interlock.core.errors import AgentInvalid
from interlock.core.frozen import frozen


@frozen
class Moment:
    """When agents are changed: the default of each tool, the time, and where salts of new canaries come from."""

    defaults: Mapping[str, str]
    now_us: int
    salt: Callable[[], str]


def revised(wanted: AgentTools, *, stored: AgentTools | None, at: Moment, gone_back: str | None = None) -> AgentTools:
    """What is kept of an agent as somebody wants it, where `stored` is what there is of it now.

    A version that is left out becomes the default of the moment. Of each tool whose version is another from now on the
    one before is kept for the agent's window, but not of the tool that has `gone_back` to it: nothing leads forward
    again but a decision. A canary keeps its salt for as long as it keeps its version.
    """
    tools = []
    for each in wanted.tools:
        before = None if stored is None else stored.use(each.tool)
        now = _revised(_filled(each, at), before, window_s=wanted.window_s, at=at)
        tools.append(replace(now, earlier=each.earlier) if each.tool == gone_back else now)
    return replace(wanted, tools=tuple(tools))


def _filled(use: ToolUse, at: Moment) -> ToolUse:
    if use.version or use.upgrade is Upgrade.AUTOMATIC:
        return use
    return replace(use, version=at.defaults.get(use.tool, ""))


def _revised(use: ToolUse, before: ToolUse | None, *, window_s: int, at: Moment) -> ToolUse:
    canary = None if use.canary is None else _salted(use.canary, None if before is None else before.canary, at)
    if before is None:
        return replace(use, canary=canary, earlier=None)
    if (use.version, use.upgrade) == (before.version, before.upgrade):
        return replace(use, canary=canary, earlier=before.earlier)
    was = before.version or at.defaults.get(use.tool, "")
    if was == use.version:
        return replace(use, canary=canary, earlier=before.earlier)
    return replace(use, canary=canary, earlier=Earlier(was, before.upgrade, at.now_us + window_s * 1_000_000))


def _salted(canary: Canary, before: Canary | None, at: Moment) -> Canary:
    is_same = before is not None and before.version == canary.version and before.salt
    return replace(canary, salt=before.salt if is_same and before is not None else at.salt())


def pinned(use: ToolUse, version: str, upgrade: Upgrade) -> ToolUse:
    """Everybody has that version from now on: no canary stands beside it."""
    return replace(use, version=version, upgrade=upgrade, canary=None)


def evaluated(use: ToolUse, version: str) -> ToolUse:
    """An evaluation of that version has passed: a tool that waits for one moves. Raises `AgentInvalid` for others."""
    if use.upgrade is not Upgrade.EVALUATED:
        raise AgentInvalid(f"{use.tool} is {use.upgrade.value} and does not wait for an evaluation")
    return pinned(use, version, use.upgrade)


def rolled_back(use: ToolUse, *, now_us: int) -> ToolUse:
    """A canary that stands is ended; else the version before is in use again. Raises `AgentInvalid` where none is."""
    if use.canary is not None:
        return replace(use, canary=None)
    earlier = use.earlier
    if earlier is None:
        raise AgentInvalid(f"{use.tool} has no canary to end, and no version before to go back to")
    if now_us > earlier.until_us:
        raise AgentInvalid(f"the window for going back to {earlier.version} of {use.tool} has passed: pin it")
    # It is held, whatever mode it was had in before: what follows the default would come straight back.
    upgrade = Upgrade.HELD if earlier.upgrade is Upgrade.AUTOMATIC else earlier.upgrade
    return replace(use, version=earlier.version, upgrade=upgrade, earlier=None)
