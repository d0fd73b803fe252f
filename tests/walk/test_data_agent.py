"""The data agent: three agents over a tenant's sales, a report with its lineage, one approval, one publication."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from interlock import Agent, Deny, RunLimits, RunState, RunUnknown, Standing, Status
from interlock.core.journal import AuditQuery
from interlock.testing.models import ScriptedModel
from tests import forked
from tests.gates import AUDITOR, records
from tests.walk.data_agent import ALICE, BOB, CAROL, FOLDER, HAS_MCP, REPORT, TEAM, Shelf, data_gate

from scripted import SQL, scripted  # type: ignore[import-not-found]  # isort: skip  # found by the line above

PUBLISH = ("publish_report", {"report_id": REPORT})
WRITE = ("write_report", {"report_id": REPORT})


def hand(agent: str) -> tuple[str, dict[str, object]]:
    return ("hand_off", {"agent": agent, "message": "Go on."})


def willing() -> ScriptedModel:
    model = scripted(REPORT, over_mcp=HAS_MCP)
    assert isinstance(model, ScriptedModel)
    return model


@pytest.mark.requirement("OBS-8", "OBS-7", "LOOP-10")
async def test_a_report_carries_the_lineage_of_all_that_it_was_made_from_and_presents_no_guess_as_fact(
    tmp_path: Path,
) -> None:
    async with data_gate(tmp_path, willing()) as opened:
        run = await opened.start()
        ended = await opened.through(run)
        assert (ended.state, ended.success, ended.agent) == (RunState.COMPLETE, True, "report")
        assert opened.publications == [REPORT]
        place = opened.shelf.path(REPORT, published=True)
        kept = json.loads(place.with_suffix(".lineage.json").read_text())
        assert kept == json.loads(opened.shelf.path(REPORT).with_suffix(".lineage.json").read_text())
        tools = [each["tool"] for each in kept["traced"]]
        assert sorted(tools) == sorted(
            ["hand_off", "query_sales", *(["query_sales_mcp"] if HAS_MCP else []), "forecast_sales", "hand_off"]
        )
        standing = {each["tool"]: each["standing"] for each in kept["traced"]}
        assert (standing["query_sales"], standing["forecast_sales"], standing["hand_off"]) == (
            "fact",
            "candidate",
            "status",
        )
        measured = next(each for each in kept["traced"] if each["tool"] == "query_sales")
        assert measured["sources"] == [
            {"uri": "sqlite:sales.db/sales", "title": SQL, "line_first": None, "line_last": None}
        ]
        assert (measured["data_version"], measured["operation_id"] is not None) == ("load-1", True)
        log = await opened.gate.audit.query(AuditQuery("acme", limit=1_000), by=AUDITOR)
        assert not isinstance(log, Deny)
        heads = {(each.record.chain, each.record.sequence) for each in log}
        assert {(each["receipt"]["chain"], each["receipt"]["sequence"]) for each in kept["traced"]} <= heads
        figures, guesses = place.read_text().split("## Not established")
        assert "| north | 45 |" in figures
        assert "63.0" not in figures
        assert "[a candidate, not established] forecast_sales" in guesses
        assert "[a model wrote this; no source supports it] The west sells most." in guesses
        whole = await opened.gate.runs.lineage(run.id, by=ALICE)
        assert [each.tool for each in whole.traced[-2:]] == ["write_report", "publish_report"]
        assert whole.traced[-1].standing is Standing.STATUS


@pytest.mark.requirement("LOOP-10")
async def test_each_agent_sees_its_own_tools_and_words_and_nobody_sees_the_tenant(tmp_path: Path) -> None:
    async with data_gate(tmp_path, willing()) as opened:
        await opened.through(await opened.start())
        seen: dict[str, tuple[list[str], str]] = {}
        for asked in opened.model.requests:
            messages, tools = asked["messages"], asked.get("tools", [])
            assert isinstance(messages, list)
            assert isinstance(tools, list)
            names = sorted(each["function"]["name"] for each in tools)
            seen[messages[0]["content"].split(".")[0]] = names, json.dumps(messages)
            assert "tenant" not in json.dumps(tools)
        queries = ["query_sales", *(["query_sales_mcp"] if HAS_MCP else [])]
        assert [names for names, _ in seen.values()] == [
            ["hand_off"], sorted(["forecast_sales", "hand_off", *queries]), ["publish_report", "write_report"],
        ]  # fmt: skip
        planner, data, report = (words for _, words in seen.values())
        assert ("north" in planner, "north" in data, "north" in report) == (False, True, False)
        assert "Find the units by region." in data
        agents = {
            each["tool"]: each["agent"] for each in await records(opened.gate) if "agent" in each and "tool" in each
        }
        assert agents["publish_report"] == "report"
        assert agents["query_sales"] == "data"


@pytest.mark.requirement("LOOP-10")
async def test_another_agent_cannot_repeat_an_effect_of_the_task_nor_go_over_its_budget(tmp_path: Path) -> None:
    reporter = Agent(
        "report", "First.", tools=("write_report", "publish_report", "sum_sales"), hand_offs=("publisher",)
    )
    publisher = Agent("publisher", "Second.", tools=("publish_report", "sum_sales"))
    sums = ("sum_sales", {"by": "region"})
    model = ScriptedModel([sums, WRITE, PUBLISH, hand("publisher"), PUBLISH, sums, "Done."])
    async with data_gate(tmp_path, model, mcp=False) as opened:
        limits = RunLimits(calls_per_tool={"sum_sales": 1})
        run = await opened.start((reporter, publisher), limits=limits)
        ended = await opened.through(run)
        assert (ended.state, ended.agent, opened.publications) == (RunState.COMPLETE, "publisher", [REPORT])
        told = {each.data["call_id"]: each.data async for each in run.events() if each.kind == "observed"}
        again, over = [told[f"{run.id}.{turn}.0"] for turn in (5, 6)]
        assert (again["status"], again["replayed"]) == ("ok", True)
        assert (over["status"], over["code"]) == ("refused", "BUDGET_EXHAUSTED")


@pytest.mark.requirement("LOOP-10")
async def test_an_agent_gets_nothing_by_a_hand_off_that_policy_does_not_allow_it(tmp_path: Path) -> None:
    greedy = Agent("data", "Take it.", tools=None)
    model = ScriptedModel([hand("data"), WRITE, PUBLISH, "I tried."])
    async with data_gate(tmp_path, model, mcp=False) as opened:
        run = await opened.start((TEAM[0], greedy, TEAM[2]))
        ended = await run.result(timeout_s=30)
        assert (ended.state, ended.success, ended.answer) == (RunState.COMPLETE, False, "I tried.")
        codes = [each.data["code"] async for each in run.events() if each.kind == "observed"]
        assert codes == [None, "TOOL_NOT_FOUND", "TOOL_NOT_FOUND"]
        assert not opened.shelf.path(REPORT).exists()


@pytest.mark.requirement("LOOP-10", "OBS-8")
async def test_another_tenant_sees_nothing_of_it(tmp_path: Path) -> None:
    async with data_gate(tmp_path, willing()) as opened:
        run = await opened.start()
        await opened.asked(run)
        desk = opened.gate.runs
        assert await desk.list(by=CAROL) == ()
        for look in (desk.get, desk.head, desk.lineage, desk.observations, desk.replay):
            with pytest.raises(RunUnknown):
                await look(run.id, by=CAROL)
        assert await opened.gate.approvals.list(by=CAROL) == ()
        arguments = json.dumps({"sql": SQL})
        assert (await opened.call("query_sales", arguments, by=CAROL)).data["rows"][0] == ["north", 90]
        other = ScriptedModel([PUBLISH, "There is no such report."], name="other")
        hers = await desk.start(model=other, task="Publish it.", principal=CAROL, agent=TEAM[2])
        approval = await opened.asked(hers)
        assert isinstance(await opened.gate.approvals.approve(approval, by=BOB), Deny)
        await opened.gate.approvals.approve(approval, by=replace(BOB, tenant="globex"))
        ended = await hers.result(timeout_s=30)
        assert ended.answer == "There is no such report."
        assert not Shelf(tmp_path / "reports", "globex").path(REPORT, published=True).exists()
        assert opened.publications == []
        with pytest.raises(RunUnknown):
            await desk.observations(run.id, by=AUDITOR)  # who may see the run is not told what it was


@pytest.mark.requirement("APR-1", "APR-4")
async def test_an_approval_holds_for_the_report_that_was_shown_and_another_is_asked_for_anew(tmp_path: Path) -> None:
    async with data_gate(tmp_path, willing()) as opened:
        run = await opened.start()
        approval = await opened.asked(run)
        path = opened.shelf.path(REPORT)
        path.write_text(path.read_text().replace("45", "4500"))
        await opened.gate.approvals.approve(approval, by=BOB)
        async for event in run.events():
            asked = event.data.get("approval_id")
            if asked is not None and asked != approval:
                break  # what stands there now is asked for anew
        assert opened.publications == []
        await run.cancel()


@pytest.mark.skipif(not HAS_MCP, reason="MCP tools need an extra: pip install 'interlock[mcp]'")
@pytest.mark.requirement("OBS-8")
async def test_both_paths_give_the_same_rows_and_the_same_refusals_to_each_tenant(tmp_path: Path) -> None:
    async with data_gate(tmp_path, willing()) as opened:
        for by in (ALICE, CAROL):
            for sql in (SQL, "SELECT COUNT(*) FROM sales", "SELECT * FROM sales", "SELECT day FROM sales WHERE 0"):
                here, there = [await opened.call(name, json.dumps({"sql": sql}), by=by) for name in PATHS]
                assert (here.status, here.data) == (there.status, there.data) == (Status.OK, here.data)
        for sql in ("SELECT * FROM main.all_sales", "DELETE FROM sales", "SELECT 1; SELECT 2"):
            for name in PATHS:
                refused = await opened.call(name, json.dumps({"sql": sql}))
                assert refused.status is Status.FAILED
                assert refused.error is not None
                assert refused.error.details["tool_code"] == "SQL_REFUSED"
        for name in PATHS:
            chosen = await opened.call(name, json.dumps({"sql": SQL, "tenant_id": "globex"}))
            assert chosen.status is Status.REFUSED


PATHS = ("query_sales", "query_sales_mcp")


async def test_a_model_that_does_not_get_there_ends_with_a_reason_and_is_not_helped(tmp_path: Path) -> None:
    async with data_gate(tmp_path, ScriptedModel(["I would rather talk."]), mcp=False) as opened:
        ended = await (await opened.start()).result(timeout_s=30)
        assert (ended.state, ended.success, opened.publications) == (RunState.COMPLETE, False, [])


# --- the program ------------------------------------------------------------------------------------------------------

DIES = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import main, reports, safe_sql, data_tools
real = {place}
def dying(*given, **named):
    done = real(*given, **named) if {after} else None
    os.kill(os.getpid(), signal.SIGKILL)
{place} = dying
sys.exit(main.main(sys.argv[1:]))
"""


def program(home: Path, *options: str, code: str = "") -> "subprocess.CompletedProcess[str]":
    command = [*(["-c", code] if code else [FOLDER / "main.py"]), "--scripted", "--home", home, *options]
    return forked.run(command, folder=Path.cwd())


@pytest.mark.requirement("OBS-8")
def test_without_an_editor_the_program_waits_and_a_later_start_publishes(tmp_path: Path) -> None:
    waits = program(tmp_path)
    assert (waits.returncode, "WAITS       Nobody here may approve." in waits.stdout) == (4, True), waits.stdout
    ended = program(tmp_path, "--approve")
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert "APPROVED    by bob\n" in ended.stdout
    assert "(earlier)" not in waits.stdout
    marked = [line for line in ended.stdout.splitlines() if " (earlier) " in line]
    assert [line.replace(" (earlier) ", " ") for line in marked] == [
        line for line in waits.stdout.splitlines() if line.startswith(("MODEL", "OBSERVED", "HANDED"))
    ]
    again = program(tmp_path)
    assert again.returncode == 0
    assert (tmp_path / "reports" / "acme" / "published" / "publications.log").read_text() == f"{REPORT}\n"


@pytest.mark.crash
@pytest.mark.requirement("LOOP-7", "LOOP-10", "OBS-8")
@pytest.mark.parametrize(
    ("place", "after"),
    [
        pytest.param("data_tools.query", True, marks=pytest.mark.slow),
        pytest.param("reports.Shelf.write", False, marks=pytest.mark.slow),
        pytest.param("reports.Shelf.write", True, marks=pytest.mark.slow),
        ("main.decided", False),
        pytest.param("reports.Shelf.publish", False, marks=pytest.mark.slow),
        ("reports.Shelf.publish", True),
    ],
)
def test_killed_at_any_instant_it_goes_on_and_publishes_once(tmp_path: Path, place: str, after: bool) -> None:
    killed = program(tmp_path, "--yes", code=DIES.format(folder=str(FOLDER), place=place, after=after))
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    ended = program(tmp_path, "--yes")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    published = tmp_path / "reports" / "acme" / "published"
    assert (published / "publications.log").read_text() == f"{REPORT}\n"
    assert "| north | 45 |" in (published / f"{REPORT}.md").read_text()
    assert ended.stdout.count("HANDED      (earlier) to data") == 1


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.requirement("LOOP-10")
def test_the_real_small_model_is_handed_the_task_from_agent_to_agent(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "main.py"), "--yes", "--home", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=390)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "HANDED      to publisher" in ended.stdout
    assert (tmp_path / "reports" / "acme" / "published" / "publications.log").read_text() == f"{REPORT}\n"
