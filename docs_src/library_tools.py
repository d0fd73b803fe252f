"""Tools that need more than arguments: credentials, conditions, errors of their own, retries, labels."""

import asyncio
from collections.abc import Mapping

from interlock import (
    Code,
    Confidentiality,
    Context,
    ErrorContract,
    Gate,
    Host,
    Labels,
    Observation,
    PolicySource,
    Principal,
    Result,
    RetryRule,
    Status,
    ToolCall,
    ToolFault,
    Trust,
    tool,
)

SENT: list[str] = []
TRIES: list[int] = []
UNSUBSCRIBED = {"carol@example.com"}


@tool(
    effect="read",
    owner="sales",
    labels=Labels(Confidentiality.CONFIDENTIAL, Trust.INTERNAL, frozenset({"crm"})),
)
async def read_customer(customer_id: str) -> dict[str, str]:
    """Read what is known about a customer."""
    return {"id": customer_id, "segment": "gold"}


def is_subscribed(to: str) -> bool | str:
    """A precondition: True goes on, a sentence says why not. It is asked last, just before the effect."""
    return f"{to} has unsubscribed." if to in UNSUBSCRIBED else True


@tool(
    effect="write",
    owner="sales",
    external=True,
    key=["to", "text"],
    secrets=["mail_token"],
    precondition=is_subscribed,
    errors=[ErrorContract("BOUNCED", nothing_happened=True)],
)
async def send_mail(to: str, text: str, context: Context) -> Result:
    """Send a mail.

    Args:
        to: the address
        text: what it says
    """
    assert context.secrets["mail_token"]  # for this call only, and shown nowhere
    if "@" not in to:
        raise ToolFault("BOUNCED", "There is no such address.")
    SENT.append(f"{context.key[:8]} {to}: {text}")  # send the key on to services that know idempotency keys
    return Result({"sent": to}, cost_micros=900)


@tool(effect="read", owner="sales", errors=[ErrorContract("BUSY", retryable=True)], retry=RetryRule(3, backoff_ms=1))
async def read_rate(currency: str, context: Context) -> float:
    """Read today's rate."""
    TRIES.append(context.attempt)
    if context.attempt < 3:
        raise ToolFault("BUSY", "The rates are being updated.")
    return 1.25


class Vault:
    """Where credentials come from: the `Secrets` protocol."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """Those of the named that this principal's tenant has."""
        return {name: f"{name}-of-{principal.tenant}" for name in names}


POLICY = PolicySource(
    "sales",
    """
    @id("own") permit(principal, action, resource) when { principal.groups.contains(context.tool.owner) };
    @id("no-leak") forbid(principal, action, resource)
      when { context.run.confidentiality >= 2 && context.tool.external };
    """,
)

alice = Principal("acme", "alice", groups=frozenset({"sales"}))


def mail(to: str, text: str = "Hello") -> ToolCall:
    """One proposal, as a model would make it."""
    return ToolCall("c1", "send_mail", {"to": to, "text": text})


def code(seen: Observation) -> Code | None:
    """Why a call did not do what was proposed; None where it did."""
    return None if seen.error is None else seen.error.code


async def main() -> None:
    """One call of each kind."""
    host = Host(secrets=Vault())
    async with Gate.open(tools=[read_customer, send_mail, read_rate], policies=[POLICY], host=host) as gate:
        sent = await gate.call(mail("bob@example.com"), principal=alice, run="run-1")
        assert (sent.status, sent.usage["cost_micros"]) == (Status.OK, 900)

        refused = await gate.call(mail("carol@example.com"), principal=alice, run="run-2")
        assert code(refused) is Code.PRECONDITION_FAILED

        bounced = await gate.call(mail("nobody"), principal=alice, run="run-3")
        assert bounced.error is not None
        assert bounced.error.details["tool_code"] == "BOUNCED"

        rate = await gate.call(ToolCall("c2", "read_rate", {"currency": "EUR"}), principal=alice, run="run-4")
        assert (rate.data, TRIES) == (1.25, [1, 2, 3])

        read = await gate.call(ToolCall("c3", "read_customer", {"customer_id": "7"}), principal=alice, run="run-5")
        assert read.labels is not None
        assert read.labels.confidentiality is Confidentiality.CONFIDENTIAL
        leak = await gate.call(mail("dave@example.com", "gold"), principal=alice, run="run-5")  # the same run
        assert code(leak) is Code.PERMISSION_DENIED
    assert len(SENT) == 1


if __name__ == "__main__":
    asyncio.run(main())
