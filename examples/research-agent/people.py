"""Who takes part: alice asks through her agent, bob reviews, and a stand-in reviews where `--yes` was given.

A real host takes these from its sign-in. The demonstration has one person at one keyboard, who plays bob at the prompt.
"""

from __future__ import annotations

from typing import Final

from interlock import Principal, PrincipalKind

TENANT: Final = "default"
ALICE: Final = Principal(TENANT, "alice", groups=frozenset({"research"}))
BOB: Final = Principal(TENANT, "bob", groups=frozenset({"reviewer"}))
REVIEWER_ON_DUTY: Final = Principal(TENANT, "reviewer-on-duty", PrincipalKind.SERVICE, frozenset({"reviewer"}))
AUDITOR: Final = Principal(TENANT, "auditor", groups=frozenset({"auditor"}))


def agent(*, question: str, found: str) -> Principal:
    """The agent, acting for alice. What it attests to: her question, and what its latest search found (if any)."""
    claims: dict[str, str | int | bool] = {"question": question}
    if found:
        claims["found"] = found
    return Principal(TENANT, "research-agent", PrincipalKind.AGENT, ALICE.groups, acting_for=ALICE.id, claims=claims)
