"""The example of the README: one read, one write that a second person approves, one repeat."""

import asyncio
from tempfile import TemporaryDirectory

from interlock import Deny, Gate, PolicySource, Principal, ToolCall, tool

SAVED: dict[str, str] = {}


@tool(effect="read", owner="research")
async def search_documents(query: str) -> list[str]:
    """Search the documents for a few words.

    Args:
        query: the words to look for
    """
    return [f"{query}: page 3", f"{query}: page 7"]


def find_draft(draft_id: str) -> str | None:
    """Say whether a draft is there, for when it is not known whether saving it succeeded."""
    return SAVED.get(draft_id)


@tool(effect="write", owner="research", key=["draft_id"], resource=("Draft", "draft_id"), reconcile=find_draft)
async def save_draft(draft_id: str, content: str) -> str:
    """Save a draft under its id.

    Args:
        draft_id: the id of the draft
        content: its text
    """
    SAVED[draft_id] = content
    return draft_id


POLICY = PolicySource(
    "research",
    """
    @id("read") permit(principal, action in Action::"read", resource)
      when { principal.groups.contains(context.tool.owner) };
    @id("ask") @approval("approver") @reason("changes need a second person")
      permit(principal, action in Action::"write", resource)
      when { principal.groups.contains(context.tool.owner) };
    """,
)

alice = Principal("acme", "alice", groups=frozenset({"research"}))
bob = Principal("acme", "bob", groups=frozenset({"approver"}))


async def main() -> None:
    """Propose, wait, approve, run once, replay."""
    with TemporaryDirectory() as folder:
        async with Gate.open(f"{folder}/interlock.db", tools=[search_documents, save_draft], policies=[POLICY]) as gate:
            found = await gate.call(
                ToolCall(id="c1", name="search_documents", arguments='{"query": "approvals"}'),
                principal=alice,
                run="run-7",
            )
            print(found.status, found.data)

            proposal = ToolCall(id="c2", name="save_draft", arguments='{"draft_id": "r1", "content": "..."}')
            seen = await gate.call(proposal, principal=alice, run="run-7", task="research-42")
            print(seen.status, SAVED)  # waiting, and nothing has been saved

            approval_id = seen.approval_id or ""
            decided = await gate.approvals.approve(approval_id, by=bob)
            if isinstance(decided, Deny):  # a refusal is a value, here and everywhere
                raise SystemExit(decided.message)
            done = await gate.approvals.resume(approval_id, by=bob)  # the stored operation, once
            print(done.status, SAVED)

            again = await gate.call(proposal, principal=alice, run="run-7", task="research-42")
            print(again.status, again.replayed)  # ok True: nothing ran

            await gate.audit.checkpoint()  # sign where the log stands; closing the gate does it too
            log = await gate.audit.verify()
            print(log.sentence)  # The log holds: 9 records in 1 chain, all signed by checkpoint 1.


if __name__ == "__main__":
    asyncio.run(main())
