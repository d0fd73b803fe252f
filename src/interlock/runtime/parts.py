"""The parts of an open gate that desks beside it are made of."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.runtime.finding import Finding
from interlock.runtime.health import Health
from interlock.runtime.look import Looker
from interlock.runtime.records import Records
from interlock.runtime.views import Views
from interlock.runtime.world import World


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """One gate's world, view, records, health of its tools, what looks up facts, and what finds tools."""

    world: World
    views: Views
    records: Records
    health: Health
    looker: Looker
    finding: Finding
