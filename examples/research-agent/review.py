"""The second person: shows what waits, takes the decision, and lets the stored operation run once."""

from __future__ import annotations

import asyncio
import sys
from enum import Enum
from typing import Final

from language import reader_language, summary_in
from people import ALICE, BOB, REVIEWER_ON_DUTY
from session import Session

from interlock import Approval, ApprovalState, Deny, Observation, Status

HOW: Final = "Approve it with `scripts/demo --approve` (you are bob then), or run it again at a terminal."
YES: Final = frozenset({"y", "yes", "是"})
NO: Final = frozenset({"n", "no", "否"})
ASKED_MAX: Final = 5
QUESTION: Final = "You are bob, the reviewer. Save this draft? yes / no / (Enter: decide later) > "
QUESTION_IN: Final = {"zh": "你是审批人 bob。保存这份草稿吗？是 yes / 否 no /（回车：以后再定）> "}
STAND_IN: Final = "a stand-in for a person, since --yes was given: nobody has looked at it"


class Reviewer(Enum):
    """Who decides in this start. NOBODY: there is no terminal, and no flag says so."""

    STAND_IN = "--yes"
    BOB = "--approve"
    PROMPT = "a terminal"
    NOBODY = "nobody"


async def review(session: Session, approval: Approval, *, reviewer: Reviewer) -> bool:
    """Have a waiting approval decided. Whether it is decided now; False leaves it waiting, for days if need be."""
    screen = session.screen
    if approval.state is not ApprovalState.PENDING:
        screen.durable = f"The question whether to save is {approval.state.value}; that is on record."
        return True
    screen.durable = "The draft waits for approval; the operation is stored, so nobody has to propose it again."
    words = summary_in(reader_language(), session=session, approval=approval)
    if reviewer is not Reviewer.STAND_IN:
        screen.say("WAITING", f"approval {approval.id}: this is what would run, to the byte:", why=words)
        screen.question(approval.summary)
    elif words:
        screen.below(words)
    await _alice_tries(session, approval)
    match reviewer:
        case Reviewer.STAND_IN:
            refused = await session.gate.approvals.approve(approval.id, by=REVIEWER_ON_DUTY, note=STAND_IN)
            _decided(session, refused, f"{REVIEWER_ON_DUTY.id}: {STAND_IN}")
        case Reviewer.BOB:
            _decided(session, await session.gate.approvals.approve(approval.id, by=BOB), BOB.id)
        case Reviewer.PROMPT:
            return await _prompt(session, approval)
        case Reviewer.NOBODY:
            screen.say("STOPPED", "Nobody is here to decide; nothing has been saved.", why=HOW)
            return False
    return True


async def resume(session: Session, approval: Approval) -> Observation | None:
    """Run what was approved, once, for alice, who sees what comes of it; a repeat gives back what is recorded.

    None: it was declined.
    """
    current = await session.gate.approvals.show(approval.id, by=BOB)
    if current is not None and current.state is ApprovalState.DENIED:
        why = (
            "That is final for this operation in this task. To start afresh, ask another --question, "
            f"name another --home, or delete the folder {session.home}."
        )
        session.screen.say("DECLINED", "The reviewer said no; nothing has been saved.", why=why)
        return None
    seen = await session.gate.approvals.resume(approval.id, by=ALICE)
    session.take(seen)
    if seen.status is Status.OK:
        session.screen.durable = "The draft is saved, and on record as saved."
    return seen


async def _alice_tries(session: Session, approval: Approval) -> None:
    """Who asked, or for whom it was asked, cannot wave it through."""
    refused = await session.gate.approvals.approve(approval.id, by=ALICE)
    says = refused.message if isinstance(refused, Deny) else "unexpectedly granted"
    session.screen.say("NO VOTE", f"alice tries to approve what her own agent asked for: {says}")


async def _prompt(session: Session, approval: Approval) -> bool:
    """Ask the person at the terminal. Only a clear yes or no decides; an empty line or the end of input puts it off."""
    for _ in range(ASKED_MAX):
        print(QUESTION_IN.get(reader_language(), QUESTION), end="", flush=True)
        said = (await _line()).strip().casefold()
        if said in YES:
            _decided(session, await session.gate.approvals.approve(approval.id, by=BOB), BOB.id)
            return True
        if said in NO:
            await session.gate.approvals.decline(approval.id, by=BOB)
            return True
        if not said:
            break
        session.screen.below("That is neither yes nor no, so nothing is decided.")
    session.screen.say("STOPPED", "It goes on waiting; nothing has been saved.", why=HOW)
    return False


def _decided(session: Session, answer: Approval | Deny, who: str) -> None:
    if isinstance(answer, Deny):
        session.screen.say("REFUSED", answer.message)
    else:
        session.screen.say("APPROVED", f"by {who}")
        session.screen.durable = "The draft is approved but not saved yet; the next start saves it, once."


async def _line() -> str:
    """A line from the terminal. Waiting for it leaves Ctrl-C to the event loop, which `input` would not."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(sys.stdin, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()
