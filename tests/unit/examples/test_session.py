"""What stands behind the numbers of a proposal is frozen with it, and nothing else is."""

from pathlib import Path

import pytest

from interlock import Code, Status
from tests.unit.examples.researching import SEARCHES, model_that_proposes, saves, session_at

from research import Conversation  # isort: skip  # needs the path of the example
from people import BOB  # isort: skip


@pytest.mark.requirement("APR-2")
async def test_an_approver_is_shown_the_chosen_passages_in_their_order_and_no_others(tmp_path: Path) -> None:
    async with session_at(tmp_path) as session:
        seen = await Conversation(session, model_that_proposes([SEARCHES, saves(3, 1)])).research()
        assert seen.status is Status.WAITING
        assert len(session.passages) == 3
        (approval,) = await session.gate.approvals.list(by=BOB)
    first, second, third = (passage.text for passage in session.passages)
    assert 0 < approval.summary.index(third) < approval.summary.index(first)
    assert second not in approval.summary


async def test_a_number_that_the_search_did_not_give_is_refused_before_anybody_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with session_at(tmp_path) as session:
        seen = await Conversation(session, model_that_proposes([SEARCHES, saves(1, 5), saves(1, 2)])).research()
        assert seen.status is Status.WAITING
        assert len(await session.gate.approvals.list(by=BOB)) == 1
    assert f"REFUSED     save_draft: {Code.CONTEXT_MISSING.value}" in capsys.readouterr().out


async def test_arguments_that_name_no_passages_are_refused_by_the_schema_which_says_what_it_wants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: list[tuple[str, dict[str, object]]] = [
        ("save_draft", {"draft_id": "backups-kept", "passages": each}) for each in ("1, 2", [], [[1], 2])
    ]
    async with session_at(tmp_path) as session:
        await Conversation(session, model_that_proposes([SEARCHES, *wrong, saves(1, 2)])).research()
    assert capsys.readouterr().out.count(Code.TOOL_ARGUMENT_INVALID.value) == 3
