"""`interlock tools check` holds handlers against what their tools declare, in CI and before anything is opened."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

MANIFEST = """\
tools:
  - handler: counting:count
    effect: read
    owner: eng
    input_schema: {type: object, properties: {n: {type: %s}}, required: [n], additionalProperties: false}
"""


UNDO = """

@tool(effect="idempotent_write", owner="notes")
def drop_note(title: Title) -> str:
    'Drop a note that is not wanted any more.'
    return title
"""


@pytest.mark.requirement("TOOL-5")
def test_a_schema_that_is_at_odds_with_its_function_is_refused_with_a_value_that_shows_it(
    cli: Cli, project: Path
) -> None:
    (project / "counting.py").write_text('def count(n: int) -> int:\n    """Count to a number."""\n    return n\n')
    (project / "more.yaml").write_text(MANIFEST % "string")
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace('tools = ["tools.py"]', 'tools = ["tools.py", "more.yaml"]'))
    ran = cli("tools", "check")
    assert ran.code == 1
    assert "count: the schema lets through what the handler does not take at /n, such as" in ran.out
    assert "2 tools can be registered" in ran.out
    [misfit, *_] = cli("tools", "check", "--json").document["misfits"]
    assert (misfit["tool"], misfit["part"], misfit["verdict"]) == ("count", "input", "breaking")
    (project / "more.yaml").write_text((MANIFEST % "integer").replace("additionalProperties: false", "title: open"))
    assert "say additionalProperties: false" in cli("tools", "check").out
    (project / "more.yaml").write_text(MANIFEST % "integer")
    assert (cli("tools", "check").code, cli("tools", "check", "--json").document["misfits"]) == (0, [])


@pytest.mark.requirement("TOOL-5")
def test_what_cannot_be_bound_to_its_runner_is_found_before_a_store_is_opened(cli: Cli, project: Path) -> None:
    tools = project / "tools.py"
    tools.write_text(
        tools.read_text().replace("    reconcile=find_note,", "    reconcile=find_note,\n    resumes=True,")
    )
    ran = cli("tools", "check")
    assert (ran.code, "it resumes, so it has to take a Context" in ran.err) == (1, True)


def test_what_undoes_a_tool_may_be_in_the_store_alone(cli: Cli, project: Path) -> None:
    tools = project / "tools.py"
    before = tools.read_text()
    tools.write_text(before + UNDO)
    assert cli("tools", "list").code == 0
    line = "    reconcile=find_note,"
    tools.write_text(before.replace(line, f'{line}\n    compensate="drop_note",\n    version="2",'))
    assert cli("tools", "check").code == 0
