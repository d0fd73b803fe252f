"""What a process knows of tools and policies at one moment: compiled, immutable, stamped with its epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from interlock.core.call import Caller
from interlock.core.canonical import Json
from interlock.core.catalogue import Catalogue, Tool, nearest
from interlock.core.decision import Deny, mask
from interlock.core.lifecycle import CLOSED
from interlock.core.policy import PolicySet, Visibility
from interlock.core.policy_judge import Judge
from interlock.core.refusals import Code
from interlock.core.routing import located, tools_after, tools_near, tools_of
from interlock.core.tool import ToolSpec

HINTS_MAX = 3
"""How many names are suggested for one that is unknown."""


LOOKED_MAX = 1_000
"""How many tools one page looks at, however few of them the caller may see."""


@dataclass(frozen=True, slots=True, eq=False)
class ToolPage:
    """Some tools, by name. The next page begins after the name `after`; None: there is no more."""

    tools: tuple[Tool, ...]
    after: str | None


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Catalogue and policies that belong together, and the environment that policies see here.

    The claim guards that `epoch` is still the store's. `cached` are the types of resource that cached reads read.
    """

    catalogue: Catalogue
    policies: PolicySet
    epoch: int
    environment: str
    cached: frozenset[str] = frozenset()

    def visible(self, caller: Caller) -> tuple[str, ...]:
        """The names of the tools that this caller may see: all but those that policy never allows."""
        return tuple(tool.spec.name for tool in self.tools(caller))

    def tools(self, caller: Caller) -> tuple[Tool, ...]:
        """Those tools, each in the version that its name means to the caller."""
        return tuple(filter(self.sees(caller), tools_of(caller, self.catalogue)))

    def named(self, caller: Caller, names: Iterable[str]) -> tuple[Tool, ...]:
        """Those of them that are called so, at no look at the others."""
        found = (located(each, caller.pinned(None), self.catalogue) for each in dict.fromkeys(names))
        return tuple(filter(self.sees(caller), (each for each in found if isinstance(each, Tool))))

    def page(self, caller: Caller, *, after: str, limit: int) -> ToolPage:
        """At most so many of those tools after a name. It may be fewer than there are: policy is asked of so many."""
        found: list[Tool] = []
        last, sees = after, self.sees(caller)
        for looked, tool in enumerate(tools_after(caller, self.catalogue, after)):
            if len(found) == limit or looked == LOOKED_MAX:
                return ToolPage(tuple(found), last)
            last = tool.spec.name
            if sees(tool):
                found.append(tool)
        return ToolPage(tuple(found), None)

    def told(self, deny: Deny, name: str, caller: Caller) -> Deny:
        """The refusal as this caller may hear it; an unknown name gets the nearest that the caller may call."""
        told = self._without_hidden(mask(deny, name, visibility=self.visibility(deny.tool, caller)), caller)
        close: list[Json] = [*self._nearest(name, caller)] if told.code is Code.TOOL_NOT_FOUND else []
        return replace(told, details={"nearest": close}, hint=_meant(str(close[0]))) if close else told

    def _without_hidden(self, told: Deny, caller: Caller) -> Deny:
        """The refusal without what is to be called instead, where this caller may not see that."""
        instead = told.details.get("replacement")
        if told.code is not Code.TOOL_RETIRED or not isinstance(instead, str):
            return told
        other = self.catalogue.find(caller.principal.tenant, instead)
        hidden = self.visibility(other, caller) is Visibility.NEVER
        return replace(told, details={}, hint="") if hidden else told

    def _nearest(self, name: str, caller: Caller) -> Iterator[str]:
        """Policy is asked about names that are close, never about all; what it hides takes the place of none."""
        tools, sees = tools_near(caller, self.catalogue, name), self.sees(caller)
        told = [each for each, tool in tools.items() if tool.state not in CLOSED and sees(tool)]
        return islice(nearest(name, told), HINTS_MAX)

    def sees(self, caller: Caller) -> Callable[[Tool], bool]:
        """Whether this caller may ever call each of many tools: policy is asked once of those that it judges alike."""
        policies, principal, known = self.policies, caller.principal, dict[Judge, Visibility]()

        def seen(tool: Tool) -> bool:
            policy = policies.slice(tool.spec, tenant=principal.tenant)
            told = policy.visibility(principal, environment=self.environment, origin=caller.origin, known=known)
            return told is not Visibility.NEVER

        return seen

    def visibility(self, tool: Tool | None, caller: Caller) -> Visibility:
        """Whether this caller may ever call the tool, as far as can be said without arguments."""
        return Visibility.NEVER if tool is None else self.visibility_of(tool.spec, caller)

    def visibility_of(self, spec: ToolSpec, caller: Caller) -> Visibility:
        """The same of a tool whose code may be in other processes alone."""
        policy = self.policies.slice(spec, tenant=caller.principal.tenant)
        return policy.visibility(caller.principal, environment=self.environment, origin=caller.origin)


def _meant(name: str) -> str:
    """What a model may do that has invented a name near one that it may see, though it may not have been given it."""
    return f"If you meant {name}, call that; only tools that you were given can be called, each by its exact name."
