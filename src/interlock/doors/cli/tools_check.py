"""`interlock tools check`: whether the project's tools can be registered, and whether their handlers fit them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interlock.core.canonical import Json
    from interlock.core.compatibility import Comparison, Finding
    from interlock.core.errors import VersionExists
    from interlock.core.spec_advice import Advice
    from interlock.core.tool import ToolSpec

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found: advice by tool, tools that changed under their version, successions, and misfits by tool."""

    specs: tuple[ToolSpec, ...]
    advice: Mapping[str, tuple[Advice, ...]]
    unlike: Mapping[str, VersionExists]
    following: tuple[Comparison, ...]
    misfits: tuple[tuple[str, Finding], ...]

    @property
    def broken(self) -> int:
        """How many break what their number promises."""
        return sum(each.breaks_its_promise for each in self.following)

    @property
    def unfit(self) -> frozenset[str]:
        """Tools whose handler surely does not keep what the schemas declare."""
        return frozenset(name for name, each in self.misfits if each.verdict.value == "breaking")

    @property
    def pieces(self) -> int:
        """How many pieces of advice there are."""
        return sum(map(len, self.advice.values()))


@verb(app, "check")
async def check(
    *, strict: Annotated[bool, typer.Option("--strict", help="Advice is a problem too.")] = False
) -> Answer:
    """Check that every tool can be registered, as it is in the store too, with advice. Changes nothing."""
    found = await _checked()
    is_wrong = bool(found.unlike or found.broken or found.unfit)
    exit_code = PROBLEM if is_wrong or (strict and (found.pieces or found.misfits)) else DONE
    return Answer(_document(found), "\n".join(_lines(found)), exit_code)


async def _checked() -> Checked:
    from interlock.adapters import refuse_unbound
    from interlock.core.spec_check import check_spec
    from interlock.core.tool_compile import compile_tool
    from interlock.declare.agreement import disagreements
    from interlock.doors.cli.code import load_tools
    from interlock.doors.cli.project import read_project
    from interlock.doors.cli.session import changed_in, successions_in
    from interlock.doors.cli.verb import line

    project = read_project(line().project)
    tools = load_tools(project)
    specs = tuple(tool.spec() for tool in tools)
    for spec in specs:
        compile_tool(spec)
    await refuse_unbound(tools, project.settings)
    _refuse_what_nothing_undoes(specs, is_stored=project.is_stored)
    return Checked(
        specs,
        {spec.name: check_spec(spec) for spec in specs},
        await changed_in(project, specs),
        await successions_in(project, specs),
        tuple((tool.spec().name, each) for tool in tools for each in disagreements(tool)),
    )


def _lines(found: Checked) -> list[str]:
    from interlock.doors.cli.faults import VERSIONED, lines_of
    from interlock.doors.cli.tools_diff import MAJOR, graver_of, line_of

    lines = [visible(f"{name}: {each.message} ({each.rule})") for name, said in found.advice.items() for each in said]
    for each in found.unlike.values():
        lines += [visible(str(each)), *(f"    {line}" for line in lines_of(each))]
    lines += [_misfit(name, each) for name, each in found.misfits]
    for following in found.following:
        lines += [line_of(following), *(f"    {line}" for line in graver_of(following))]
    able = len(found.specs) - len(found.unlike) - found.broken - len(found.unfit)
    lines.append(f"{counted(able, 'tool')} can be registered; {counted(found.pieces, 'piece')} of advice.")
    if found.unlike or found.broken:
        lines.append(f"Next: {VERSIONED if found.unlike else MAJOR}")
    return lines


def _document(found: Checked) -> dict[str, Json]:
    from interlock.core.tool import spec_to_json
    from interlock.doors.cli.faults import changes_document
    from interlock.doors.cli.tools_diff import document_of, finding_document

    return {
        "tools": [spec.name for spec in found.specs],
        "advice": {name: spec_to_json(said) for name, said in found.advice.items()},
        "changed": [str(each) for each in found.unlike.values()],
        "differs": {name: changes_document(each.changes) for name, each in found.unlike.items()},
        "versions": [document_of(each) for each in found.following],
        "misfits": [{"tool": name, **finding_document(each)} for name, each in found.misfits],
    }


def _misfit(name: str, finding: Finding) -> str:
    """What schemas promise that a handler does not keep, with a value that shows it."""
    from interlock.doors.cli.tools_diff import witness_of

    such = f", such as {witness_of(finding)}" if finding.witness is not None else ""
    at = f" at {finding.path}" if finding.path else ""
    if finding.verdict.value != "breaking":
        return visible(f"{name}: whether its handler fits the {finding.part} schema{at} is not certain{such}")
    if finding.part == "input" and finding.path == "/*":
        return visible(
            f"{name}: the schema lets through arguments that it does not name, and the handler takes no others{such}:"
            " say additionalProperties: false"
        )
    if finding.part == "input":
        return visible(f"{name}: the schema lets through what the handler does not take{at}{such}")
    return visible(f"{name}: the handler may give what the output schema does not allow{at}{such}")


def _refuse_what_nothing_undoes(specs: Sequence[ToolSpec], *, is_stored: bool) -> None:
    """Raise `SpecInvalid` where a tool names what undoes it, and that could not be called. It may be in the store."""
    from interlock.core.compensation import wrong_with
    from interlock.core.errors import SpecInvalid

    here = {spec.name: spec for spec in specs}
    for spec in specs:
        other = here.get(spec.compensate)
        if spec.compensate and (other is not None or not is_stored):
            wrong = "; ".join(wrong_with(spec, other))
            if wrong:
                raise SpecInvalid(f"{spec.name}: {wrong}")
