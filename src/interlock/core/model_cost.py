"""What a request to a model holds of budgets, as it is kept for a recovery that finds nobody at work on it."""

from __future__ import annotations

from typing import Final

from interlock.core.budget import NOTHING, Amounts
from interlock.core.canonical import decode

MODELS: Final = "interlock.models"
"""The source under which requests to models are claimed: no tool has it."""


def held_by_request(sealed: bytes) -> Amounts:
    """The most that a request can have used whose answer was lost; it is charged that, never nothing."""
    found = decode(sealed) if sealed else None
    if not isinstance(found, dict):
        return NOTHING
    tokens, cost = found.get("tokens"), found.get("cost_micros")
    return Amounts(tokens=tokens if isinstance(tokens, int) else 0, cost_micros=cost if isinstance(cost, int) else 0)
