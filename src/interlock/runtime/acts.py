"""Acts of the control plane: who may do them, and how they are signed in the record."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.approval import Approval
from interlock.core.call import Principal
from interlock.core.errors import ActRefused
from interlock.core.tool import SHARED

OPERATORS = frozenset({"operator"})
"""Groups whose members do acts of control, look lost calls up and close them, and undo what others did."""

AUDITORS = OPERATORS | {"auditor"}
"""Groups whose members may read their tenant's log, and see every approval and plan in it."""


def only_operators(by: Principal, what: str, *, tenants: Iterable[str], home: str) -> None:
    """Raise `ActRefused` unless `by` is an operator who may act on what belongs to `tenants`.

    Operators of `home`, the installation's own tenant, may act on everything. Others may act on what is their own
    tenant's, and never on what is shared: that is everybody's.
    """
    if not by.groups & OPERATORS:
        raise ActRefused(f"{what} takes the group operator; {by.id} does not have it.")
    beyond = sorted({tenant for tenant in tenants if tenant == SHARED or tenant != by.tenant})
    if beyond and by.tenant != home:
        whose = "all tenants" if SHARED in beyond else f"the tenant {beyond[0]}"
        raise ActRefused(f"{what} of {whose} takes an operator of the tenant {home}; {by.id} is one of {by.tenant}.")


def only_auditors(by: Principal, what: str, *, tenants: Iterable[str]) -> None:
    """Raise `ActRefused` unless `by` may read the log of one of `tenants`."""
    allowed = frozenset(tenants)
    if not by.groups & AUDITORS or by.tenant not in allowed:
        whose = " or ".join(sorted(allowed - {SHARED}))
        raise ActRefused(f"{what} takes an auditor or operator of {whose}; {by.id} is none.")


def signed_by(by: Principal) -> dict[str, object]:
    """The fields of a record that say who did it."""
    return {"principal": by.id, "on_behalf_of": by.on_behalf_of, "actor": by.actor}


def about(approval: Approval) -> dict[str, object]:
    """What every record of an approval says: which it is, of what tool, and when it was asked for."""
    bound = approval.binding
    return {
        "subject": approval.id,
        "call_id": approval.call_id,
        "tool": bound.tool,
        "version": bound.version,
        "asked_at_us": approval.asked_at_us,
    }
