"""Only a clear yes or no of the person at the terminal decides; anything else is asked again or put off."""

import os
import sys
from pathlib import Path

import pytest
from people import BOB
from research import Conversation
from review import Reviewer, resume, review

from interlock import ApprovalState
from tests.unit.examples.researching import SEARCHES, model_that_proposes, saves, session_at


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


async def decided_at_a_terminal(home: Path, typed: str, monkeypatch: pytest.MonkeyPatch) -> ApprovalState:
    """What becomes of a draft that waits when bob types this."""
    keyboard, terminal = os.openpty()
    async with session_at(home) as session:
        await Conversation(session, model_that_proposes([SEARCHES, saves(1, 2)])).research()
        (approval,) = await session.gate.approvals.list(by=BOB)
        with os.fdopen(terminal, encoding="utf-8") as stdin, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", stdin)
            os.write(keyboard, typed.encode())
            await review(session, approval, reviewer=Reviewer.PROMPT)
        os.close(keyboard)
        found = await session.gate.approvals.show(approval.id, by=BOB)
        assert found is not None
        await resume(session, found) if found.state is not ApprovalState.PENDING else None
        return found.state


@pytest.mark.parametrize(
    ("typed", "state"),
    [
        ("y\n", ApprovalState.GRANTED),
        ("是\n", ApprovalState.GRANTED),
        ("yse\nYES\n", ApprovalState.GRANTED),
        ("maybe\n?\n\n", ApprovalState.PENDING),
        ("yse\n" * 9, ApprovalState.PENDING),
        ("\n", ApprovalState.PENDING),
        ("n\n", ApprovalState.DENIED),
        ("nope\n否\n", ApprovalState.DENIED),
    ],
)
async def test_only_a_clear_yes_or_no_decides(
    tmp_path: Path, typed: str, state: ApprovalState, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await decided_at_a_terminal(tmp_path, typed, monkeypatch) is state


async def test_who_declined_is_told_how_to_start_afresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await decided_at_a_terminal(tmp_path, "no\n", monkeypatch)
    assert f"or delete the folder {tmp_path}." in capsys.readouterr().out


async def test_who_reads_chinese_is_told_and_asked_in_chinese_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    await decided_at_a_terminal(tmp_path, "是\n", monkeypatch)
    shown = capsys.readouterr().out
    assert "为问题“How are backups kept?”保存草稿 backups-kept，由下列编号的段落组成" in shown
    assert "你是审批人 bob。" in shown
