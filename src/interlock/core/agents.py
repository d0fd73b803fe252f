"""An agent as the control plane knows it: which tools it may use, and in which versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from interlock.core.call import is_storable
from interlock.core.canonical import canonical, decode
from interlock.core.errors import AgentInvalid
from interlock.core.tool import SHARED, fields_to_json
from interlock.core.typed import from_json

NAME_CHARS_MAX: Final = 64
TENANT_CHARS_MAX: Final = 512
TOOLS_MAX: Final = 4_096
PER_MILLE: Final = 1_000
WINDOW_S: Final = 7 * 86_400

_BODY: Final = ("tools", "others", "owner", "description", "window_s")


class Upgrade(StrEnum):
    """How an agent comes to the next version of a tool: with the default, by a pin alone, or once it was evaluated."""

    AUTOMATIC = "automatic"
    HELD = "held"
    EVALUATED = "after_evaluation"


@dataclass(frozen=True, slots=True)
class Canary:
    """Another version for some: for all of the named tenants, and for a share in thousandths of everybody else.

    `salt` decides who is in the share. It is drawn when the canary begins and stays while its version does, so that who
    has the version keeps it, and a larger share only adds to them.
    """

    version: str
    per_mille: int = 0
    tenants: frozenset[str] = frozenset()
    salt: str = ""


@dataclass(frozen=True, slots=True)
class ShadowRule:
    """A version that is tried beside the one in use. `compare`: reads are run in both, and what they give compared."""

    version: str
    compare: bool = True


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was in use before the last change, and until when (microseconds, UTC) one act goes back to it."""

    version: str
    upgrade: Upgrade
    until_us: int


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool of an agent, by its name. `version` is the exact one, unless it follows the default (`automatic`).

    A version that is left out is filled in when the agent is saved: with the default of that moment.
    """

    tool: str
    version: str = ""
    upgrade: Upgrade = Upgrade.HELD
    canary: Canary | None = None
    shadow: ShadowRule | None = None
    earlier: Earlier | None = None

    @property
    def versions(self) -> frozenset[str]:
        """All versions that it names."""
        named = {self.version, "" if self.canary is None else self.canary.version}
        return frozenset(named | {"" if self.shadow is None else self.shadow.version}) - {""}


@dataclass(frozen=True, slots=True)
class AgentTools:
    """An agent of a tenant, or of all (`*`). It may use what it lists, and with `others` the rest, by default.

    Policy rules over all of it. `window_s` says for how long the version before a change stays one act away. `revision`
    counts what was saved; who saves gives the one that was read, 0 for a new agent.
    """

    name: str
    tenant: str
    tools: tuple[ToolUse, ...] = ()
    others: bool = False
    owner: str = ""
    description: str = ""
    window_s: int = WINDOW_S
    revision: int = 0

    def use(self, tool: str) -> ToolUse | None:
        """What it says of a tool."""
        return next((each for each in self.tools if each.tool == tool), None)

    def using(self, use: ToolUse) -> AgentTools:
        """The same with another word on that tool, which keeps its place."""
        if self.use(use.tool) is None:
            return replace(self, tools=(*self.tools, use))
        return replace(self, tools=tuple(use if each.tool == use.tool else each for each in self.tools))


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """An agent with its tools by name, as decisions read it."""

    agent: AgentTools
    uses: Mapping[str, ToolUse]

    @staticmethod
    def of(agent: AgentTools) -> Routes:
        """The routes of an agent."""
        return Routes(agent, {each.tool: each for each in agent.tools})


def agent_to_bytes(agent: AgentTools) -> bytes:
    """What is kept of it as the body of a document, whose place says the rest."""
    return canonical(fields_to_json(agent, names=_BODY))


def agent_from_bytes(body: bytes, *, tenant: str, name: str, revision: int) -> AgentTools:
    """The agent in a body. Raises `ValueError` where it is none."""
    read = decode(body)
    if not isinstance(read, dict) or read.keys() & {"name", "tenant", "revision"}:
        raise ValueError("it is no agent")
    return from_json(AgentTools, {"name": name, "tenant": tenant, "revision": revision, **read})


def refuse_invalid(agent: AgentTools) -> None:
    """Raise `AgentInvalid` where it says what cannot be meant."""
    refuse_unnamed(agent)
    names = [each.tool for each in agent.tools]
    if len(names) > TOOLS_MAX:
        raise AgentInvalid(f"an agent lists at most {TOOLS_MAX} tools, not {len(names)}")
    if len(set(names)) != len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise AgentInvalid(f"agent {agent.name} lists {twice} twice")
    if agent.window_s < 0:
        raise AgentInvalid(f"agent {agent.name}: window_s is the seconds in which one act goes back, not less than 0")
    for each in agent.tools:
        _refuse_use(each, agent)


def refuse_unnamed(agent: AgentTools) -> None:
    """Raise `AgentInvalid` where its name or its tenant's cannot be kept."""
    _refuse_name(agent.name, "an agent's name", chars_max=NAME_CHARS_MAX)
    _refuse_name(agent.tenant, "a tenant", chars_max=TENANT_CHARS_MAX)


def is_name(text: str, *, chars_max: int = NAME_CHARS_MAX) -> bool:
    """Whether something can be called so."""
    return 0 < len(text) <= chars_max and is_storable(text)


def _refuse_use(use: ToolUse, agent: AgentTools) -> None:
    about = f"agent {agent.name}, {use.tool[:128]!r}"
    _refuse_name(use.tool, f"{about}: a tool's name", chars_max=128)
    for version in use.versions:
        _refuse_name(version, f"{about}: a version", chars_max=128)
    if (use.upgrade is Upgrade.AUTOMATIC) == bool(use.version):
        says = "follows the default and names no version" if use.version else "is held at a version: name it"
        raise AgentInvalid(f"{about} {says}")
    if use.shadow is not None and not use.shadow.version:
        raise AgentInvalid(f"{about}: a shadow is a version: name it")
    if use.canary is not None:
        _refuse_canary(use.canary, about, agent=agent)


def _refuse_canary(canary: Canary, about: str, *, agent: AgentTools) -> None:
    if not canary.version:
        raise AgentInvalid(f"{about}: a canary is a version: name it")
    if not 0 <= canary.per_mille <= PER_MILLE:
        raise AgentInvalid(f"{about}: the share of a canary is 0 to {PER_MILLE} thousandths, not {canary.per_mille}")
    if canary.tenants and agent.tenant != SHARED:
        raise AgentInvalid(
            f"{about}: a canary names tenants where the agent is shared by all; this is one tenant's own"
        )


def _refuse_name(text: str, what: str, *, chars_max: int) -> None:
    if not is_name(text, chars_max=chars_max):
        raise AgentInvalid(f"{what} is 1 to {chars_max} characters, all of which can be kept")
