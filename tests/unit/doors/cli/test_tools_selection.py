"""`interlock tools test --selection`: words tried, what was taken for what, and again once a description changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.doors.cli.conftest import Cli


def test_the_words_of_a_new_project_lead_to_its_tools(cli: Cli, project: Path) -> None:
    ran = cli("tools", "test", "--selection", "--json")
    assert ran.code == 0, ran.out
    assert ran.document["after"] == {"passed": 3, "failed": 0}


@pytest.mark.requirement("REG-13")
def test_a_changed_description_has_all_words_beside_it_tried_again_and_shows_what_is_confused(
    cli: Cli, project: Path
) -> None:
    assert cli("tools", "test", "--selection", "--publish").code == 0
    assert cli("tools", "test", "--selection", "--json").document["tried"] == 0
    tools = project / "tools.py"
    words = tools.read_text().replace(
        "Save one note under its title, which", "Read or save the note that is called by its title, read it, which"
    )
    tools.write_text(words.replace('    effect="write",', '    effect="write",\n    version="2",'))
    ran = cli("tools", "test", "--selection", "--json")
    assert ran.code == 1
    assert (ran.document["tried"], ran.document["before"]) == (3, {"passed": 3, "failed": 0})
    assert {"wanted": "read_note", "chosen": "save_note", "count": ran.document["after"]["failed"]} in (
        ran.document["confusions"]
    )
    assert "save_note" in cli("tools", "test", "--selection").out.partition("Taken instead")[2]


@pytest.mark.requirement("REG-13")
def test_a_model_of_the_project_may_choose_and_nothing_is_called(
    cli: Cli, project: Path, models: Callable[..., Any]
) -> None:
    (project / "notes").mkdir()
    model = models(*[[("read_note", '{"title": "hello"}')] for _ in range(3)])
    ran = cli("tools", "test", "--model", "small", "--json")
    assert (ran.code, ran.document["chooser"]) == (1, "small")
    assert ran.document["after"] == {"passed": 2, "failed": 1}
    assert ran.document["wrong"][0]["chosen"] == "read_note"
    assert [*(project / "notes").iterdir()] == []
    assert len(model.asked) == 3


def test_a_model_that_there_is_not_and_a_project_without_words_are_said(cli: Cli, project: Path) -> None:
    assert "there is no model 'big'" in cli("tools", "test", "--model", "big").err
    file = project / "examples" / "notes.yaml"
    file.write_text(file.read_text().partition("\nselection:")[0])
    assert "no case under selection" in cli("tools", "test", "--selection").err


def test_words_are_tried_for_each_agent_among_the_tools_that_it_has(cli: Cli, project: Path) -> None:
    settings = project / "interlock.toml"
    agent = '\n[[agents]]\nname = "%s"\ninstructions = "Help."\ntools = %s\n'
    more = agent % ("reader", '["read_note"]') + agent % ("both", '["read_note", "save_note"]')
    settings.write_text(settings.read_text() + more)
    ran = cli("tools", "test", "--selection", "--json")
    assert ran.document["tried"] == 4, ran.out
