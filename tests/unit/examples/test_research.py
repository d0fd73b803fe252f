"""A start of the program goes on from the search of an earlier one, and says so."""

from pathlib import Path

import pytest
from on_record import latest_search
from research import Conversation

from interlock import Status
from tests.unit.examples.researching import DOCUMENT, SEARCHES, model_that_proposes, saves, session_at


async def searched_and_stopped(home: Path) -> None:
    async with session_at(home) as session:
        call = session.call(SEARCHES[0], '{"query": "backups kept"}')
        await session.propose([call], proposer="written-down")


async def test_a_start_after_the_search_asks_the_model_for_no_search_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await searched_and_stopped(tmp_path)
    async with session_at(tmp_path) as session:
        earlier = await latest_search(session.gate, task=session.task)
        assert earlier is not None
        seen = await Conversation(session, model_that_proposes([saves(1, 2)])).research(earlier)
    assert seen.status is Status.WAITING
    shown = capsys.readouterr().out
    assert "CONTINUES   an earlier start has searched" in shown
    assert "the same result as on record" in shown


@pytest.mark.parametrize(
    ("document", "asked"), [(DOCUMENT + "\nBackups, too.\n", [saves(1, 2)]), (f"{DOCUMENT}\nNever.", [saves(2, 1)])]
)
async def test_documents_that_have_changed_since_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], document: str, asked: list[tuple[str, dict[str, object]]]
) -> None:
    await searched_and_stopped(tmp_path)
    async with session_at(tmp_path, document=document) as session:
        earlier = await latest_search(session.gate, task=session.task)
        await Conversation(session, model_that_proposes(asked)).research(earlier)
    assert "the documents have changed: this result counts" in capsys.readouterr().out


async def test_where_the_recorded_search_finds_too_little_now_the_model_is_asked_again(tmp_path: Path) -> None:
    await searched_and_stopped(tmp_path)
    other = "# Copies\n\nCopies stay.\n\n# Stay\n\nThey stay for a year.\n"
    again = ("search_documents", {"query": "copies stay"})
    async with session_at(tmp_path, document=other) as session:
        earlier = await latest_search(session.gate, task=session.task)
        seen = await Conversation(session, model_that_proposes([again, saves(1, 2)])).research(earlier)
    assert seen.status is Status.WAITING


async def test_another_task_has_no_search_on_record(tmp_path: Path) -> None:
    await searched_and_stopped(tmp_path)
    async with session_at(tmp_path) as session:
        assert await latest_search(session.gate, task="research-other") is None
