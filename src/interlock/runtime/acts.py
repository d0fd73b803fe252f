"""Acts of the control plane: who may do them, and how they are signed in the record."""

from __future__ import annotations

from interlock.core.call import Principal
from interlock.core.errors import ActRefused

OPERATORS = frozenset({"operator"})
"""Groups whose members may publish and move tools, save policies and close unknown calls."""


def only_operators(by: Principal, what: str) -> None:
    """Raise `ActRefused` unless `by` is an operator."""
    if not by.groups & OPERATORS:
        raise ActRefused(f"{what} takes the group operator; {by.id} does not have it.")


def signed_by(by: Principal) -> dict[str, object]:
    """The fields of a record that say who did it."""
    return {"principal": by.id, "on_behalf_of": by.on_behalf_of, "actor": by.actor}
