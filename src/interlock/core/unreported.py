"""What a call is charged of whose cost nobody tells: the most that was declared for it, never zero."""

from __future__ import annotations

from typing import Final

from interlock.core.budget import NOTHING, Amounts
from interlock.core.canonical import decode
from interlock.core.catalogue import Catalogue

MODELS: Final = "interlock.models"
"""The source under which requests to models are claimed: no tool has it."""


def declared_most(catalogue: Catalogue, *, tenant: str, tool: str) -> Amounts:
    """The most that a call of a tool was declared to cost."""
    found = catalogue.find(tenant, tool)
    return NOTHING if found is None else Amounts(cost_micros=found.spec.cost.max_micros)


def held_by_request(sealed: bytes) -> Amounts:
    """The most that a request to a model can have used, as it was kept beside its claim."""
    found = decode(sealed) if sealed else None
    if not isinstance(found, dict):
        return NOTHING
    tokens, cost = found.get("tokens"), found.get("cost_micros")
    return Amounts(tokens=tokens if isinstance(tokens, int) else 0, cost_micros=cost if isinstance(cost, int) else 0)
