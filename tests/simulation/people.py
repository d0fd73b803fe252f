"""Who acts in simulated and killed processes, and what policy lets them do."""

from interlock import PolicySource, Principal
from interlock.core.canonical import sha256_hex
from interlock.keys import Keys
from tests.simulation.world import TOOLS

TENANT = "acme"
ALICE = Principal(TENANT, "alice", groups=frozenset({"eng"}))
APPROVERS = [Principal(TENANT, name, groups=frozenset({"eng", "approver"})) for name in ("bob", "carol", "dan")]
HOST = Principal(TENANT, "host", groups=frozenset({"operator", "auditor"}))
KEYS = Keys(b"s" * 32, b"m" * 32)

PERMITS = """
@id("reads") permit (principal, action in Action::"read", resource);
@id("writes") permit (principal, action in [Action::"write", Action::"idempotent_write"], resource);
@id("removals") @approval("approver") @quorum("2") @lifetime("1h")
permit (principal, action in Action::"destructive", resource);
"""


def policies(*forbidden: str) -> tuple[PolicySource, ...]:
    """The policies, with a forbid for each of these tools."""
    forbids = [f'forbid (principal, action == Action::"{name}", resource);' for name in sorted(forbidden)]
    return (PolicySource("all", "\n".join([PERMITS, *forbids]), tenant=TENANT),)


def forbids() -> dict[str, str]:
    """The tool that policies forbid, by the digest under which they are on record."""
    return {sha256_hex(source.text.encode()): each.name for each in TOOLS for source in policies(each.name)}
