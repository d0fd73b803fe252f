"""Runs the data agent: a planner hands its task to one with SQL, which hands it to one that reports; a person approves.

Run it again at any time, after Ctrl-C or kill -9 too: the run goes on from its journal, and publishes nothing twice.
Exit codes: 0 the report is published, 1 it came to nothing, 2 wrong usage, 4 it waits for an approval, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "research-agent"))  # the small model is started as it is there

from data_tools import OWNER, Desk, read_tools, report_tools
from model_server import ModelUnavailable
from reports import Shelf
from sales_data import sales_database
from scripted import scripted
from team import ALICE, AUDITOR, BOB, EDITOR_ON_DUTY, TEAM, small_team

from interlock import (
    Agent,
    Check,
    Declaration,
    Deny,
    Drives,
    Gate,
    Host,
    InterlockError,
    Model,
    Principal,
    Run,
    RunEvent,
    RunLimits,
    RunReport,
    RunState,
    Settings,
)

DONE, FAILED, WAITS, INTERRUPTED = 0, 1, 4, 130
LIMITS: Final = RunLimits(rounds=16, calls=24, repeats=3, waits_s=None)
EARLIER: Final = "(earlier)"
HAS_MCP: Final = importlib.util.find_spec("mcp") is not None


def main(arguments: Sequence[str]) -> int:
    """One start of the program; its exit code."""
    options = read_options(arguments)
    try:
        return asyncio.run(demonstrate(options))
    except KeyboardInterrupt:
        say("STOPPED", "Run the same command again: it goes on from there.")
        return INTERRUPTED
    except (InterlockError, ModelUnavailable, OSError) as fault:
        say("FAILED", str(fault))
    return FAILED


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line. Exits with 2 for one that makes no sense."""
    parser = argparse.ArgumentParser(prog="data-agent", description="A team of agents reports on a tenant's sales.")
    parser.add_argument("--task", default="Report the units sold by region.", help="what to do (default: %(default)s)")
    parser.add_argument("--report", default="q1-sales", metavar="ID", help="the report's id (default: %(default)s)")
    parser.add_argument(
        "--home", type=Path, default=Path(".interlock-data"), help="database, store, reports (%(default)s)"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--scripted", action="store_true", help="no model: a script says what a willing one would")
    which.add_argument("--model", help="such as openai:gpt-5-mini; default: the small model on this machine")
    decides = parser.add_mutually_exclusive_group()
    decides.add_argument("--yes", action="store_true", help="unattended: a stand-in approves, and the output says so")
    decides.add_argument("--approve", action="store_true", help="approve what waits, as bob, and go on")
    return parser.parse_args(arguments)


async def demonstrate(options: argparse.Namespace) -> int:
    """Open the database, the gate and the model, and see the run through."""
    home = options.home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    database, desk = sales_database(home / "sales.db"), Desk()
    tools = [*read_tools(database), *_mcp_tools(database), *report_tools(home / "reports", desk)]
    settings = Settings(hand_off_owner=OWNER, drives=Drives.NAMED, runs_every_s=0.2)
    with chosen_model(options) as (model, team):
        host = Host(models=(model,))
        store = home / "interlock.db"
        async with Gate.open(store, tools=tools, policies=HERE / "policies", settings=settings, host=host) as gate:
            desk.gate = gate
            run, earlier = await started(gate, options, model=model, team=team)
            report = await seen_through(gate, run, editor=_editor(options), earlier=earlier)
            return await ending(gate, report, Shelf(home / "reports", ALICE.tenant), options)


@contextmanager
def chosen_model(options: argparse.Namespace) -> Iterator[tuple[Model, tuple[Agent, ...]]]:
    """The model that was asked for, and the team that it can be."""
    if options.scripted:
        yield scripted(options.report, over_mcp=HAS_MCP), TEAM
    elif options.model:
        from interlock.providers import model_of

        yield model_of(options.model, os.environ), TEAM
    else:
        from small_model import small_model

        with small_model() as model:
            yield model, small_team(options.report)


async def started(gate: Gate, options: argparse.Namespace, *, model: Model, team: tuple[Agent, ...]) -> tuple[Run, int]:
    """The run of this task, wherever an earlier start has left it, and the cursor up to which that one came."""
    run_id = f"report-{options.report}-{model.name}"
    known = [each for each in await gate.runs.list(by=ALICE) if each.id == run_id]
    run = await gate.runs.start(
        model=model,
        task=options.task if options.scripted or options.model else f'Report "{options.report}".',
        principal=ALICE,
        agent=team[0],
        agents=team,
        limits=LIMITS,
        task_id=f"report-{options.report}",
        run_id=run_id,
        check=Check("is_published", json.dumps({"report_id": options.report})),
    )
    goes_on = f"goes on from an earlier start; what happened then is marked {EARLIER}"
    say("RUN", f"{run.id}: {goes_on if known else f'{team[0].name} begins, asking {model.name}'}")
    await gate.runs.go_on(run.id, by=ALICE)
    return run, known[0].version if known else 0


async def seen_through(gate: Gate, run: Run, *, editor: Principal | None, earlier: int) -> RunReport:
    """Tell what happens until the run is over, or waits for somebody who is not here."""
    async for event in run.events():
        show(event, mark=f"{EARLIER} " if event.cursor <= earlier else "")
        if event.state is not RunState.WAITING_APPROVAL:
            continue
        report = await run.report()  # what was decided before this start is told again, and waits no more
        if report.state is RunState.WAITING_APPROVAL and not await decided(gate, report, editor=editor):
            return report
    return await run.report()


async def decided(gate: Gate, report: RunReport, *, editor: Principal | None) -> bool:
    """Have the editor decide on what waits. False: there is nobody."""
    for approval_id in report.waiting:
        found = await gate.approvals.show(approval_id, by=BOB)
        if found is None or found.votes:
            continue
        say("ASKED", found.summary)
        if editor is None:
            return False
        answer = await gate.approvals.approve(approval_id, by=editor)
        stand_in = " (a stand-in for a person: nobody has looked)" if editor == EDITOR_ON_DUTY else ""
        say("REFUSED" if isinstance(answer, Deny) else "APPROVED", f"by {editor.id}{stand_in}")
    return True


async def ending(gate: Gate, report: RunReport, shelf: Shelf, options: argparse.Namespace) -> int:
    """Say what it came to, and prove the log."""
    log = await gate.audit.verify()
    say("AUDIT", log.sentence)
    if not report.state.is_over:
        say("WAITS", "Nobody here may approve. Run it again with --approve to do so as bob.")
        return WAITS
    say(report.state.value.upper(), f"{report.reason}. {report.why or report.answer}".strip())
    place = shelf.path(options.report, published=True)
    if report.success is not True or not place.exists():
        say("FAILED", f"The task is not done: {shelf.path(options.report).name} is not published.")
        return FAILED
    lineage = await gate.runs.lineage(report.id, by=AUDITOR)
    say("PUBLISHED", f"{place}, made from {len(lineage.traced)} observations, {len(lineage.facts)} of them facts")
    return DONE


def show(event: RunEvent, *, mark: str) -> None:
    """What happened, in a line, behind a mark."""
    data = event.data
    match event.kind:
        case "responded":
            calls = data["calls"]
            names = [str(each["name"]) for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []
            say("MODEL", f"{mark}{data['agent']}: {', '.join(names) or data['text'] or data['why'] or data['ended']}")
        case "observed":
            say("OBSERVED", f"{mark}{data['tool']}: {data['status']} {data['code'] or ''} {data['says']}".rstrip())
        case "handed_off":
            say("HANDED", f"{mark}to {data['agent']}: {data['message']}")
        case "faulted":
            say("FAULT", f"{mark}{data['why']}")
        case _:
            pass


def say(word: str, text: str) -> None:
    """One thing, behind a word of its own."""
    sys.stdout.write(f"{word:<11} " + text.replace("\n", "\n" + " " * 12) + "\n")
    sys.stdout.flush()


def _editor(options: argparse.Namespace) -> Principal | None:
    if options.yes:
        return EDITOR_ON_DUTY
    return BOB if options.approve else None


def _mcp_tools(database: Path) -> tuple[Declaration, ...]:
    """The second path to the rows, where it is installed."""
    if not HAS_MCP:
        say("NO MCP", "The same query over MCP is left out: pip install 'interlock[mcp]'")
        return ()
    from mcp_tools import mcp_tools

    return mcp_tools(database)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
