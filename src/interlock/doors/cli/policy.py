"""`interlock policy`: check, explain, test and save the project's Cedar policies; only saving changes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.asking import unconfirmed
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import counted, fields, rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.policy import Explanation
    from interlock.doors.cli.session import Session
    from interlock.runtime.policies import Change

app = typer.Typer(help="Check, explain, test and save who may do what.", no_args_is_help=True)

_KNOWN = "`interlock tools list --all` shows which tools there are."

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@verb(app, "check")
async def check() -> Answer:
    """Compile the policy files and show what saving them would change. Changes nothing."""
    from interlock.doors.cli.project import read_project
    from interlock.doors.cli.session import tried, visited
    from interlock.doors.cli.verb import line

    stored = read_project(line().project).is_stored
    async with visited() if stored else tried() as session:
        change = await _change(session)
    text = _text(change) if stored else "There is no store yet, so nothing changes."
    return Answer(_document(change), f"The policies fit the tools.\n{text}")


@verb(app, "save")
async def save(*, yes: Yes = False) -> Answer:
    """Put the policy files in force, at once in every process, after showing what that changes."""
    from interlock.declare.given import read_policies
    from interlock.doors.cli.answer import note
    from interlock.doors.cli.session import as_it_is, not_operator

    async with as_it_is() as session:
        deny = not_operator(session.by, "To save policies")
        if deny is not None:
            return refusal(deny)
        note(_text(await _change(session)))
        unsaid = unconfirmed("Put these policies in force?", yes=yes)
        if unsaid is not None:
            return unsaid
        change = await session.gate.policies.save(read_policies(session.project.policies), by=session.by)
    return Answer(_document(change), "The policies are in force.")


@verb(app, "explain")
async def explain(
    name: Annotated[str, typer.Argument(help="The tool.")],
    arguments: Annotated[str, typer.Argument(help="Its arguments as a JSON object.")] = "{}",
    *,
    unsaved: Annotated[bool, typer.Option("--unsaved", help="By the policy files, not by those in force.")] = False,
    task: Annotated[str | None, typer.Option(help="The business task.")] = None,
    run: Annotated[str | None, typer.Option(help="The run.")] = None,
) -> Answer:
    """Show how policy would decide a call, and what each policy had to say. Nothing runs."""
    from interlock.core.call import ToolCall
    from interlock.core.decision import Deny
    from interlock.core.refusals import Code
    from interlock.doors.cli.session import opened, refuse_changed, tried
    from interlock.doors.cli.session import unsaved as unsaved_in

    async with tried() if unsaved else opened() as session:
        await refuse_changed(name, session)
        caller = session.caller(run=run, task=task)
        found = await session.gate.policies.explain(ToolCall("explain", name, arguments), caller)
        differs = "" if unsaved else await unsaved_in(session)
    if isinstance(found, Deny):
        return refusal(found, next_step=_KNOWN if found.code is Code.TOOL_NOT_FOUND else "")
    return _explained(name, found, attention=f"By what is in force; {differs}." if differs else "")


@verb(app, "test")
async def run_cases() -> Answer:
    """Run the cases in policies/tests/*.yaml against the policy files: who, which tool, and allow, ask or deny."""
    from interlock.doors.cli.policy_cases import outcome_of, read_cases
    from interlock.doors.cli.session import tried

    async with tried() as session:
        cases = read_cases(session.project)
        results = [(case, await outcome_of(case, session)) for case in cases]
    wrong = [(case, outcome) for case, outcome in results if outcome.answer is not case.expect]
    document: dict[str, Json] = {
        "cases": [
            {"name": case.name, "expect": case.expect.value, "answer": outcome.answer.value, "reason": outcome.reason}
            for case, outcome in results
        ],
        "passed": len(results) - len(wrong),
        "failed": len(wrong),
    }
    header = ("Case", "Expected", "Was", "Because")
    values = [(case.name, case.expect.value, outcome.answer.value, outcome.reason) for case, outcome in wrong]
    total = f"{counted(len(results), 'case')}, {len(wrong)} decided otherwise."
    table = rows(header, values, empty="")
    return Answer(document, f"{table}\n{total}" if wrong else total, PROBLEM if wrong else DONE)


async def _change(session: Session) -> Change:
    from interlock.declare.given import read_policies
    from interlock.doors.cli.code import load_tools

    gate = session.gate
    coming = await gate.catalogue.coming(tool.spec() for tool in load_tools(session.project))
    sources = read_policies(session.project.policies)
    return await gate.policies.check(sources, tenant=session.by.tenant, coming=coming)


def _document(change: Change) -> dict[str, Json]:
    from interlock.core.tool import spec_to_json

    return {
        "tools": spec_to_json(change.tools),
        "approvals": [*change.approvals],
        "warnings": [*change.warnings],
    }


def _text(change: Change) -> str:
    tools = sorted({each.tool for each in change.tools})
    lines = [f"Warning: {visible(each)}" for each in change.warnings]
    lines.append(f"It changes the rules of: {visible(tools)}." if tools else "It changes no rules.")
    if change.approvals:
        lines.append(f"It voids these approvals, which wait or were not used yet: {visible(change.approvals)}.")
    return "\n".join(lines)


def _explained(name: str, found: Explanation, *, attention: str) -> Answer:
    from interlock.core.tool import spec_to_json

    verdict = found.verdict
    document: dict[str, Json] = {
        "verdict": spec_to_json(verdict),
        "policies": spec_to_json(found.policies),
        "attention": [attention] if attention else [],
    }
    needed = verdict.requirement
    text = fields(
        [
            ("Attention", attention),
            (name, verdict.answer.value.upper()),
            ("Because", verdict.reason),
            ("Roles", None if needed is None else needed.roles),
            ("Quorum", None if needed is None else needed.quorum),
            ("Log only", verdict.log_only),
            ("Slice", verdict.slice_digest),
        ]
    )
    header = ("Policy", "Kind", "Mode", "Outcome", "Reads")
    values = [(each.policy, each.effect, each.mode.value, each.outcome.value, each.reads) for each in found.policies]
    return Answer(document, f"{text}\n{rows(header, values, empty='No policy speaks of this tool.')}")
