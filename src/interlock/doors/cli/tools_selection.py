"""`interlock tools test --selection`: whether users' words lead to the tools that they are meant for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.faults import ExamplesInvalid
from interlock.doors.cli.shown import counted, rows, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlock.core.agents import AgentTools
    from interlock.core.canonical import Json
    from interlock.core.catalogue import Tool
    from interlock.core.selection import Choice, Confusion, SelectionCase
    from interlock.doors.cli.project import Project
    from interlock.importers.examples import Library
    from interlock.ports.choosing import Chooser
    from interlock.runtime.choosing import Offered

EVERYBODY = ""
"""The agent of a project that names none: all tools are offered to it."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of trying words: the choices before and by now, how many were made, and how many could not be."""

    chooser: str
    before: tuple[Choice, ...]
    now: tuple[Choice, ...]
    made: int
    left: int


async def selected(project: Project, library: Library, *, model: str | None, publish: bool) -> Answer:
    """Try the words that are due, with the search or a model, and say what was taken for what."""
    from interlock.core.selection import due
    from interlock.loop.choosing import ModelChooser
    from interlock.runtime.choosing import surfaces, tried

    if not library.selection:
        raise ExamplesInvalid(f"there is no case under selection: in {project.examples}")
    chooser = _chooser(project, model)
    before, agents = await _kept(project, chooser.name)
    offered = _offered(project, agents)
    wanted = due(library.selection, surfaces(offered), before, chooser=chooser.name)
    made = await tried(wanted, chooser, offered)
    if isinstance(chooser, ModelChooser):
        await chooser.model.close()
    known = {(each.case, each.agent): each for each in before}
    now = tuple({**known, **{(each.case, each.agent): each for each in made}}.values())
    if publish:
        await _publish(library, now, chooser.name, offered=offered)
    return _answer(Tried(chooser.name, before, now, len(made), len(wanted) - len(made)), library, offered)


def _answer(found: Tried, library: Library, offered: Offered) -> Answer:
    from interlock.core.selection import confusions, tallied
    from interlock.runtime.choosing import surfaces

    seen = surfaces(offered)
    tallies = tallied(library.selection, seen, found.now, chooser=found.chooser)
    wrong = [each for each in found.now if not each.passed and each.offered == seen.get(each.agent)]
    confused = confusions(library.selection, wrong)
    was, came = _counts(found.before), _counts(found.now)
    document: dict[str, Json] = {
        "chooser": found.chooser,
        "tried": found.made,
        "unanswered": found.left,
        "before": was,
        "after": came,
        "wrong": [_shown(each, library.selection) for each in wrong],
        "confusions": [_confusion(each) for each in confused],
        "tools": {
            f"{tool} {kind}": {"passed": each.passed, "failed": each.failed, "due": each.due}
            for (tool, kind), each in sorted(tallies.items())
        },
    }
    line = (
        f"{counted(found.made, 'case')} tried with {visible(found.chooser)}: {came['passed']} passed and "
        f"{came['failed']} failed, before {was['passed']} and {was['failed']}."
    )
    more = f" {found.left} could not be asked." if found.left else ""
    text = f"{_text(library.selection, wrong, confused)}\n{line}{more}"
    return Answer(document, text, PROBLEM if wrong or found.left else DONE)


def _chooser(project: Project, model: str | None) -> Chooser:
    if model is None:
        from interlock.adapters import ranker_for
        from interlock.runtime.choosing import RankedChooser

        return RankedChooser(ranker_for(project.settings, None))
    from interlock.doors.cli.code import load_models
    from interlock.loop.choosing import ModelChooser

    found = [each for each in load_models(project) if each.name == model]
    if not found:
        raise ExamplesInvalid(f"there is no model {model!r} under [[models]] that can be asked")
    return ModelChooser(found[0])


def _offered(project: Project, stored: Iterable[AgentTools]) -> Offered:
    """By agent the tools that it may be offered, as the project's code has them: agents of the store, whose lists are
    the ones in force, and those of the project. Policy is not asked: words are tried among all.
    """
    from interlock.core.tool_compile import compile_tool
    from interlock.doors.cli.code import load_tools

    tools: dict[str, Tool] = {}
    for spec in (tool.spec() for tool in load_tools(project)):
        tools[spec.name] = compile_tool(spec)
    listed: dict[str, Sequence[str]] = {each.name: [*tools] if each.tools is None else each.tools
                                        for each in project.agents}  # fmt: skip
    for agent in stored:
        listed[agent.name] = [*tools] if agent.others else [use.tool for use in agent.tools]
    listed = listed or {EVERYBODY: [*tools]}
    return {agent: tuple(tools[name] for name in names if name in tools) for agent, names in listed.items()}


async def _kept(project: Project, chooser: str) -> tuple[tuple[Choice, ...], tuple[AgentTools, ...]]:
    """What the store has: choices made before, and agents with the tools that they may use."""
    from interlock.doors.cli.session import reading

    if not project.is_stored:
        return (), ()
    async with reading() as session:
        agents = await session.gate.agents.list(by=project.operator)
        return await session.gate.examples.choices(chooser, by=session.by), agents


async def _publish(library: Library, made: Iterable[Choice], chooser: str, *, offered: Offered) -> None:
    """Keep the choices, and what they say of each version for the gates of its moves."""
    from interlock.core.example_results import checks_of
    from interlock.core.readiness import Readiness
    from interlock.core.selection import tallied
    from interlock.doors.cli.session import switching
    from interlock.runtime.choosing import surfaces

    tallies = tallied(library.selection, surfaces(offered), made, chooser=chooser)
    tools = {tool.digest: tool.spec for every in offered.values() for tool in every}
    async with switching() as session:
        desk = session.gate.examples
        await desk.keep_choices(chooser, made, by=session.by)
        found = []
        for digest, spec in tools.items():
            checks = checks_of(tallies, spec.name)
            plain = Readiness(tool=spec.name, version=spec.version, digest=digest)
            found.append(replace(plain, selection=checks.selection, risk=checks.risk))
        await desk.keep_words(found, by=session.by)


def _text(cases: Iterable[SelectionCase], wrong: Sequence[Choice], confused: Sequence[Confusion]) -> str:
    known = {each.id: each for each in cases}
    values = [
        (each.agent or "all", known[each.case].words, _wanted(known[each.case]), each.chosen or "none")
        for each in wrong
        if each.case in known
    ]
    table = rows(("Agent", "Words", "Wanted", "Chosen"), values, empty="Every choice is right.")
    if not confused:
        return table
    pairs = [(each.wanted or "another, or none", each.chosen or "none", each.count) for each in confused]
    return f"{table}\n{rows(('Wanted', 'Taken instead', 'How often'), pairs, empty='')}"


def _wanted(case: SelectionCase) -> str:
    if case.wanted is not None:
        return case.wanted or "none"
    return f"not {', '.join(sorted(case.forbidden))}"


def _shown(choice: Choice, cases: Iterable[SelectionCase]) -> dict[str, Json]:
    case = next((each for each in cases if each.id == choice.case), None)
    return {
        "agent": choice.agent,
        "words": "" if case is None else case.words,
        "wanted": "" if case is None else _wanted(case),
        "chosen": choice.chosen,
    }


def _confusion(each: Confusion) -> dict[str, Json]:
    return {"wanted": each.wanted, "chosen": each.chosen, "count": each.count}


def _counts(made: Iterable[Choice]) -> dict[str, Json]:
    found = [each.passed for each in made]
    return {"passed": sum(found), "failed": len(found) - sum(found)}
