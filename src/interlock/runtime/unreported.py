"""What a call or a request to a model is charged of whose cost nobody tells, by what is kept of it."""

from __future__ import annotations

from interlock.core.budget import Amounts
from interlock.core.catalogue import Catalogue
from interlock.core.unreported import MODELS, declared_most, held_by_request
from interlock.ports import StoredOperation


def unreported(call: StoredOperation, catalogue: Catalogue) -> Amounts:
    """The most that was declared for it, or that it held: never zero where it could cost anything."""
    if call.source == MODELS:
        return held_by_request(call.sealed)
    return declared_most(catalogue, tenant=call.tenant, tool=call.tool)
