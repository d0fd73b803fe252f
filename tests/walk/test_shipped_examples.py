"""The examples that come with the two agents and with `interlock init` pass, each against a gate of its own."""

from datetime import date
from pathlib import Path

import pytest

from interlock.adapters import ranker_for
from interlock.core.example import ExampleKind
from interlock.core.example_results import Passing, readiness_of
from interlock.core.functions import Declaration
from interlock.core.selection import due
from interlock.core.starter_examples import STARTER_EXAMPLES
from interlock.core.tool_compile import compile_tool
from interlock.declare.given import read_policies
from interlock.importers.examples import Library, load_examples, read_examples, write_examples
from interlock.rehearsal import Stage, rehearse
from interlock.runtime.choosing import RankedChooser, surfaces, tried
from interlock.settings import Settings
from tests.walk.data_agent import FOLDER as DATA
from tests.walk.data_agent import Desk, read_tools, report_tools  # type: ignore[attr-defined]

RESEARCH = DATA.with_name("research-agent")
TODAY = date(2026, 11, 30)


def research(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Declaration, ...]:
    monkeypatch.syspath_prepend(str(RESEARCH))
    from documents import open_library  # type: ignore[import-not-found]
    from research_tools import research_tools  # type: ignore[import-not-found]

    (folder / "a.md").write_text("# A claim\n\nall or nothing\n", encoding="utf-8")
    with open_library(folder) as library:
        found: tuple[Declaration, ...] = research_tools(library, drafts=folder / "drafts")
    return found


async def passing(library: Library, stage: Stage) -> None:
    results = [await rehearse(each, stage, today=TODAY) for each in library.examples]
    wrong = [(each.example.name, each.why, [*map(str, each.differences)]) for each in results if each.is_wrong]
    assert wrong == []
    assert {each.passing for each in results} == {Passing.PASSED}
    assert read_examples(write_examples(library)).examples == library.examples
    await leading(library, stage)
    names = {each.tool for each in library.examples}
    for spec in (tool.spec() for tool in stage.tools):
        if spec.name in names:
            assert readiness_of(spec, results, at_us=1).lacking([]) == ()


async def leading(library: Library, stage: Stage) -> None:
    """Every word of the library leads where it says, by the search."""
    offered = {"": tuple(compile_tool(tool.spec()) for tool in stage.tools)}
    chooser = RankedChooser(ranker_for(stage.settings, None))
    made = await tried(due(library.selection, surfaces(offered), (), chooser="search"), chooser, offered)
    known = {each.id: each.words for each in library.selection}
    assert [(known[each.case], each.chosen) for each in made if not each.passed] == []
    assert len(made) == len(library.selection) > 0


@pytest.mark.requirement("REG-8")
async def test_the_examples_of_the_research_agent_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = load_examples(sorted((RESEARCH / "examples").glob("*.yaml")))
    tools = research(tmp_path, monkeypatch)
    await passing(library, Stage(tools, read_policies(RESEARCH / "policies")))
    assert {each.tool for each in library.examples} == {tool.spec().name for tool in tools}


@pytest.mark.requirement("REG-8")
async def test_the_examples_of_the_data_agent_pass(tmp_path: Path) -> None:
    library = load_examples(sorted((DATA / "examples").glob("*.yaml")))
    tools = (*read_tools(tmp_path / "sales.db"), *report_tools(tmp_path, Desk()))
    await passing(library, Stage(tools, read_policies(DATA / "policies"), Settings(tenant="acme")))
    assert {each.tool for each in library.examples} == {tool.spec().name for tool in tools}


def test_the_examples_of_a_new_project_show_every_kind_that_its_tools_have() -> None:
    kinds = {each.kind for each in read_examples(STARTER_EXAMPLES).examples}
    assert kinds == set(ExampleKind) - {ExampleKind.ROLLBACK}
