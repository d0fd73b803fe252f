"""Wires the driving of runs to an open gate: made when runs are first used, since many gates never have one."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.engines.embedded import EmbeddedEngine
from interlock.loop.bells import Bells
from interlock.loop.desk import RunDesk
from interlock.loop.holding import Holding
from interlock.loop.model import Model
from interlock.loop.offer import Offers
from interlock.loop.reach import Models, Reach
from interlock.runtime.approvals import ApprovalDesk
from interlock.runtime.gate import Gate
from interlock.runtime.parts import Parts
from interlock.settings import Settings


class Driving:
    """The desk of runs, with the engine and the models behind it. Belongs to one gate."""

    def __init__(
        self, gate: Gate, parts: Parts, *, approvals: ApprovalDesk, models: Iterable[Model], settings: Settings
    ) -> None:
        bells = Bells()
        self._models = Models(models)
        reach = Reach(
            gate=gate,
            approvals=approvals,
            world=parts.world,
            records=parts.records,
            views=parts.views,
            health=parts.health,
            limits=parts.looker.limits,
            models=self._models,
            offers=Offers(parts.health),
            holding=Holding(gate, parts),
            finding=parts.finding,
            moved=bells.ring,
        )
        self._engine = EmbeddedEngine(reach, every_s=settings.runs_every_s, drives=settings.drives)
        self.desk = RunDesk(reach, self._engine, bells=bells, looker=parts.looker)
        approvals.and_then(self._engine.wake)
        self._engine.begin()

    async def close(self) -> None:
        """Let go of every run, then of the models."""
        await self._engine.close()
        await self._models.close()
