"""What driving a run reaches: the gate and the desks beside it, the world, and the models of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from interlock.core.call import RUNS_DOOR, Caller, Origin, Principal
from interlock.core.limits import LimitTable
from interlock.loop.entries import Begun
from interlock.loop.holding import Holding
from interlock.loop.model import Model, ModelUnknown
from interlock.loop.offer import Offers
from interlock.loop.view import RunView
from interlock.runtime.approvals import ApprovalDesk
from interlock.runtime.finding import Finding
from interlock.runtime.gate import Gate
from interlock.runtime.health import Health
from interlock.runtime.records import Records
from interlock.runtime.views import Views
from interlock.runtime.world import World

DOOR = RUNS_DOOR
"""What policies see as the door that a run's calls come through."""

Bell = Callable[[str, str], None]
"""Told tenant and id of a run that has moved."""


class Models:
    """The models that runs of this process may ask, by name."""

    def __init__(self, models: Iterable[Model] = ()) -> None:
        self._models = {model.name: model for model in models}

    def add(self, model: Model) -> str:
        """Know one more; its name."""
        self._models[model.name] = model
        return model.name

    @property
    def is_empty(self) -> bool:
        """Whether no run can be driven here."""
        return not self._models

    def named(self, name: str) -> Model:
        """The model of that name. Raises `ModelUnknown`."""
        model = self._models.get(name)
        if model is None:
            there = ", ".join(sorted(self._models)) or "none"
            raise ModelUnknown(f"there is no model {name!r} here (there is: {there}); give it in Host(models=[...])")
        return model

    async def close(self) -> None:
        """Let go of their connections."""
        for model in self._models.values():
            await model.close()


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """All of it. `moved` is rung whenever a run has moved. `missed`: since when runs lack a version here, by run."""

    gate: Gate
    approvals: ApprovalDesk
    world: World
    records: Records
    views: Views
    health: Health
    limits: LimitTable
    models: Models
    offers: Offers
    holding: Holding
    finding: Finding
    moved: Bell
    missed: dict[tuple[str, str], int] = field(default_factory=dict)

    async def today(self, begun: Begun) -> Principal | None:
        """Who the run is for, as of now; None: no longer known."""
        then, principals = begun.principal, self.world.principals
        return then if principals is None else await principals.current(then)


def caller_for(view: RunView, principal: Principal, *, turn: int, model: str) -> Caller:
    """Who makes the calls of one turn."""
    begun = view.begun
    origin = _origin(view.agent.name, model, trace_id=begun.trace_id, actor=principal.actor)
    return Caller(principal, view.id, begun.task_id, None, turn, 0, None, origin)


@lru_cache(maxsize=1_024)
def _origin(agent: str, model: str, *, trace_id: str, actor: str) -> Origin:
    """The same value turn after turn: what is remembered of a caller (`runtime.records`) is found by its identity."""
    return Origin(DOOR, agent, model, trace_id, actor)
