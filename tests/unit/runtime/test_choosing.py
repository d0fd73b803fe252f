"""Words tried against descriptions: what a chooser says is judged, and what it could not be asked stays due."""

import pytest

from interlock.adapters import ranker_for
from interlock.core.catalogue import Tool
from interlock.core.selection import NO_TOOL, SelectionCase, due
from interlock.core.tool_compile import compile_tool
from interlock.runtime.choosing import RankedChooser, surfaces, tried
from interlock.settings import Settings
from interlock.testing.choosing import FakeChooser
from tests.library import spec

READ = compile_tool(spec(name="read_note", description="Read one note by its title."))
SEND = compile_tool(spec(name="send_mail", description="Send a mail to somebody."))
OFFERED = {"desk": (READ, SEND), "clerk": (READ,)}
CASES = [SelectionCase(words="read a note", tool="read_note"), SelectionCase(words="send a mail", tool="send_mail")]


@pytest.mark.requirement("REG-13")
async def test_only_what_is_due_is_tried_and_what_could_not_be_asked_stays_due() -> None:
    chooser = FakeChooser({"read a note": "send_mail"})
    wanted = due(CASES, surfaces(OFFERED), (), chooser="fake")
    made = await tried(wanted, chooser, OFFERED)
    assert [(each.agent, each.chosen, each.passed) for each in made] == [
        ("clerk", "send_mail", False),
        ("desk", "send_mail", False),
    ]
    left = due(CASES, surfaces(OFFERED), made, chooser="fake")
    assert [(each.agent, each.case.words) for each in left] == [("desk", "send a mail")]


@pytest.mark.requirement("REG-13")
async def test_a_changed_description_has_the_words_of_the_tools_beside_it_tried_again() -> None:
    chooser = FakeChooser({"read a note": "read_note", "send a mail": "send_mail"})
    made = await tried(due(CASES, surfaces(OFFERED), (), chooser="fake"), chooser, OFFERED)
    changed = compile_tool(spec(name="send_mail", description="Read or send a mail, or a note."))
    now: dict[str, tuple[Tool, ...]] = {**OFFERED, "desk": (READ, changed)}
    again = FakeChooser({"read a note": "send_mail", "send a mail": "send_mail"})
    wanted = due(CASES, surfaces(now), made, chooser="fake")
    assert {(each.agent, each.because) for each in wanted} == {("desk", ("send_mail",))}
    found = await tried(wanted, again, now)
    assert [(each.chosen, each.passed) for each in found] == [("send_mail", False), ("send_mail", True)]


async def test_a_search_chooses_what_it_finds_first_and_nothing_where_nothing_fits() -> None:
    chooser = RankedChooser(ranker_for(Settings(), None))
    assert await chooser.choose("send somebody a mail", (READ, SEND)) == "send_mail"
    assert await chooser.choose("zzz", (READ, SEND)) == NO_TOOL
