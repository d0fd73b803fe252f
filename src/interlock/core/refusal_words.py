"""What a refusal says in words, and with which details, where that takes more than a line."""

from __future__ import annotations

from interlock.core.budget import Exhausted, ScopeKind, Unit
from interlock.core.canonical import Json
from interlock.core.catalogue import NAME_CHARS_MAX
from interlock.core.frozen import frozen
from interlock.core.refusals import Code
from interlock.core.tool import ToolSpec


@frozen
class Said:
    """A refusal's code, its sentence, and what goes with it."""

    code: Code
    message: str
    details: dict[str, Json]
    retry_after_s: float | None = None


def over_said(over: Exhausted, *, now_us: int) -> Said:
    """What names a limit. Of what tenants share it tells no numbers: they would be others' too."""
    limit, resets_us = over.limit, over.resets_us
    details: dict[str, Json] = {"unit": limit.unit.value, "scope": limit.scope.value, "resets_at_us": resets_us}
    named = f"{limit.unit.value} of one {limit.scope.value}, which all share"
    if not limit.shared:
        details |= {"limit": limit.amount, "left": over.left}
        named = f"{limit.amount} {limit.unit.value} per {limit.scope.value}"
    if limit.scope is ScopeKind.OPERATION:
        return Said(Code.REPEATED_CALL, f"The same operation was called too often: {named}.", details)
    if resets_us is not None:
        wait_s = max(0.0, (resets_us - now_us) / 1e6)
        says = f"Rate reached: {named} in {limit.window_s} s."
        return Said(Code.RATE_LIMITED, says, details, retry_after_s=wait_s)
    if limit.unit is Unit.CONCURRENT:
        return Said(Code.RATE_LIMITED, f"Too many at once: {named}.", details, retry_after_s=0.05)
    return Said(Code.BUDGET_EXHAUSTED, f"Budget used up: {named}.", details)


def no_tool(name: str) -> str:
    """That there is none of that name."""
    # A name that is cut could show the beginning of a secret that is masked where it stands whole.
    return f"There is no tool named {name!r}." if len(name) <= NAME_CHARS_MAX else "There is no tool of that name."


def not_here(name: str, *, agent: str) -> str:
    """That an agent is held at a version which this process does not have."""
    return f"What the agent {agent} is to use as {name} is not here."


def key_wanted(spec: ToolSpec) -> str:
    """That an effect has no key, and what makes one."""
    if spec.idempotency.caller_key_required:
        return f"{spec.name} demands an idempotency key from its caller."
    return f"{spec.name} changes something: outside a run it needs a business task or an idempotency key."
