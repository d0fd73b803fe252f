"""Says in words which version a tool's name means to somebody, and why: for people, never for models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from interlock.core.agents import Routes, ToolUse, Upgrade
from interlock.core.call import Caller
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.frozen import frozen
from interlock.core.lifecycle import CLOSED
from interlock.core.listed import whole
from interlock.core.policy import Visibility
from interlock.core.refusals import Code
from interlock.core.routing import Missing, Why, explained
from interlock.core.tool import ToolSpec
from interlock.core.view import View

_REASONS: Final[Mapping[Why, str]] = {
    Why.DEFAULT: "it is the default version",
    Why.AUTOMATIC: "the agent follows the default version",
    Why.PINNED: "the agent is held at this version",
    Why.CANARY_TENANT: "its canary names this tenant",
    Why.CANARY_SHARE: "this principal is in the share of its canary",
    Why.BOUND: "the run began with this version",
    Why.NOT_LISTED: "the agent does not list this tool",
    Why.MISSING: "the version that is meant is not here: not published, or its code is in other processes alone",
    Why.UNKNOWN: "there is no such tool here",
}


@frozen
class Explained:
    """What a name means to a principal in an agent. `version` is empty where it means nothing that may run.

    `code` is what a call would be refused with before policy is asked about its arguments; None: it would not be.
    """

    agent: str
    tool: str
    principal: str
    version: str
    why: Why
    code: Code | None
    says: tuple[str, ...]


def explain(name: str, caller: Caller, view: View) -> Explained:
    """Which version the name means, and everything that bears on it."""
    catalogue = view.catalogue
    found, why, routes = explained(name, caller, catalogue)
    says = [_REASONS[why], *_of_agent(routes, name, caller, catalogue=catalogue)]
    if isinstance(found, Missing) and found.version:
        says.append(f"what is meant is version {found.version}; the record of a call says TOOL_UNAVAILABLE")
    spec = _spec(found, name, caller, catalogue=catalogue)
    code = _missing_code(found) if isinstance(found, Missing) else CLOSED.get(found.state)
    if isinstance(found, Tool) and code is not None:
        says.append(f"it is {found.state.value} and takes no calls, whoever is held at it")
    if spec is not None and view.visibility_of(spec, caller) is Visibility.NEVER:
        code, says = Code.TOOL_NOT_FOUND, [*says, "policy never lets this principal call it: to them there is none"]
    version = found.version if isinstance(found, Missing) else found.spec.version
    return Explained(caller.origin.agent, name, caller.principal.id, version, why, code, tuple(says))


def explain_to_oneself(name: str, caller: Caller, view: View) -> Explained:
    """The same as the caller may hear it: what policy never lets them call is a name that means nothing."""
    found, _, _ = explained(name, caller, view.catalogue)
    spec = _spec(found, name, caller, catalogue=view.catalogue)
    if spec is not None and view.visibility_of(spec, caller) is not Visibility.NEVER:
        return explain(name, caller, view)
    says = (_REASONS[Why.UNKNOWN],)
    return Explained(caller.origin.agent, name, caller.principal.id, "", Why.UNKNOWN, Code.TOOL_NOT_FOUND, says)


def _spec(found: Tool | Missing, name: str, caller: Caller, *, catalogue: Catalogue) -> ToolSpec | None:
    """What policy is to be asked about: what the name means to the caller, else to others."""
    tool = found.tool if isinstance(found, Missing) else found
    absent = catalogue.absent(caller.principal.tenant, name) if tool is None else tool.spec
    return None if absent is None else whole(absent)


def _missing_code(missing: Missing) -> Code:
    if missing.tool is None:
        return Code.TOOL_NOT_FOUND
    return Code.TOOL_NOT_ALLOWED if missing.why is Why.NOT_LISTED else Code.TOOL_UNAVAILABLE


def _of_agent(routes: Routes | None, name: str, caller: Caller, *, catalogue: Catalogue) -> Iterator[str]:
    if routes is None:
        if caller.origin.agent:
            yield f"no agent {caller.origin.agent} is published: it has the default version of every tool"
        return
    use = routes.uses.get(name)
    if use is None:
        yield (
            "tools that the agent does not list are had by default" if routes.agent.others else "it lists others alone"
        )
        return
    default = catalogue.find(caller.principal.tenant, name)
    yield from _of_use(use, default="" if default is None else default.spec.version)


def _of_use(use: ToolUse, *, default: str) -> Iterator[str]:
    if use.upgrade is Upgrade.EVALUATED and default not in ("", use.version):
        yield f"the default is {default}, and waits for an evaluation that has passed"
    elif use.upgrade is Upgrade.HELD and default not in ("", use.version):
        yield f"the default is {default}, and the agent is held"
    if use.canary is not None:
        named = f", and the tenants {', '.join(sorted(use.canary.tenants))}" if use.canary.tenants else ""
        yield f"a canary gives {use.canary.version} to {use.canary.per_mille} of 1000{named}"
    if use.shadow is not None:
        yield f"{use.shadow.version} is tried in its shadow"
    if use.earlier is not None:
        yield f"one act goes back to {use.earlier.version}, while its window lasts"
