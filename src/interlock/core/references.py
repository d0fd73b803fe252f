"""What rests on a version: who would notice if it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from interlock.core.canonical import Json
from interlock.core.tool import ToolSpec

SHOWN_MAX: Final = 1_000
"""How many of one kind are named; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """What names a version, by kind, each as a short text.

    `agents` that use it, `runs` that are open and bound to it, `approvals` that wait for it, `examples` and `cases`
    that are about it, `policies` that name the tool, `tools` that are undone by it, fall back on it or depend on it,
    and `replaces`: versions that it takes the place of. Where runs were not looked at, `runs_looked` is false.
    """

    agents: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    approvals: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    runs_looked: bool = True

    @property
    def by_kind(self) -> Mapping[str, tuple[str, ...]]:
        """All of them, by the name of their kind."""
        return {
            "agents": self.agents,
            "runs": self.runs,
            "approvals": self.approvals,
            "examples": self.examples,
            "cases": self.cases,
            "policies": self.policies,
            "tools": self.tools,
            "replaces": self.replaces,
        }

    @property
    def is_empty(self) -> bool:
        """Whether nothing rests on it, as far as was looked."""
        return not any(self.by_kind.values())

    @property
    def told(self) -> dict[str, Json]:
        """As JSON: each kind with its count, and as many as are named."""
        found: dict[str, Json] = {
            kind: {"count": len(each), "named": [*each[:SHOWN_MAX]]} for kind, each in self.by_kind.items()
        }
        return found if self.runs_looked else {**found, "runs": "not looked at: what closes does not wait"}


def resting_on(name: str, specs: Iterable[ToolSpec]) -> tuple[str, ...]:
    """Tools that name this one, with what for, as `save 2: compensate`."""
    found = []
    for spec in specs:
        uses = [("compensate", spec.compensate), ("fallback", spec.fallback)]
        uses += [("depends on", each) for each in spec.depends_on]
        found += [f"{spec.name} {spec.version}: {how}" for how, other in uses if other == name]
    return tuple(sorted(found))
