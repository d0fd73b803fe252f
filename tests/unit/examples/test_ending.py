"""The numbers at the end are those of the audit log, and add up."""

from pathlib import Path

import pytest
from ending import ending
from people import BOB
from research import Conversation
from review import resume
from what_if import what_if

from tests.unit.examples.researching import SEARCHES, model_that_proposes, saves, session_at


async def rows_after(home: Path, capsys: pytest.CaptureFixture[str], *, approve: bool) -> dict[str, str]:
    """The table after a draft was proposed, and then approved (and what-if proposals made) or declined."""
    async with session_at(home) as session:
        await Conversation(session, model_that_proposes([SEARCHES, saves(1, 2)])).research()
        (approval,) = await session.gate.approvals.list(by=BOB)
        if approve:
            await session.gate.approvals.approve(approval.id, by=BOB)
            saved = await resume(session, approval)
            assert saved is not None
            await resume(session, approval)  # as a later start does: the proposal stays one that was executed
            await what_if(session, saved)
        else:
            await session.gate.approvals.decline(approval.id, by=BOB)
        capsys.readouterr()
        await ending(session, home=home, fingerprint="")
    lines = [line.strip().partition(" ") for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    return {name: value.strip() for name, _, value in lines}


async def test_what_proposals_came_to_adds_up_to_what_was_proposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = await rows_after(tmp_path, capsys, approve=True)
    ends = {name: rows[name].partition(",")[0] for name in ("executed", "replayed", "refused")}
    assert ends == {"executed": "2", "replayed": "1", "refused": "5"}
    assert rows["proposed"] == "8 calls, of which:"
    assert rows["approvals"] == "1 asked for"
    assert rows["spent"].startswith("7 calls,")


async def test_a_declined_proposal_is_counted_as_declined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = await rows_after(tmp_path, capsys, approve=False)
    assert (rows["proposed"], rows["executed"], rows["declined"]) == ("2 calls, of which:", "1", "1")
    assert "waiting" not in rows
