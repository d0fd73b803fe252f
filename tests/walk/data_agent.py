"""What tests of the data agent share: its modules, an open gate of its tools, and a run of its script with people."""

import importlib.util
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from interlock import Agent, Check, Gate, Host, Observation, Run, RunLimits, RunReport, RunState, Settings, ToolCall
from interlock.testing.models import ScriptedModel

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "data-agent"
if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))

from data_tools import OWNER, Desk, read_tools, report_tools  # type: ignore[import-not-found]  # noqa: E402
from reports import Shelf  # type: ignore[import-not-found]  # noqa: E402
from sales_data import sales_database  # type: ignore[import-not-found]  # noqa: E402
from team import ALICE, BOB, CAROL, TEAM  # type: ignore[import-not-found]  # noqa: E402

HAS_MCP = all(importlib.util.find_spec(name) for name in ("mcp", "interlock.declare.mcp"))
REPORT = "q1-sales"

__all__ = [
    "ALICE",
    "BOB",
    "CAROL",
    "FOLDER",
    "HAS_MCP",
    "REPORT",
    "TEAM",
    "Open",
    "Shelf",
    "data_gate",
    "sales_database",
]


@dataclass
class Open:
    """The data agent's gate, with the model that its runs ask."""

    gate: Gate
    model: ScriptedModel
    home: Path

    @property
    def shelf(self) -> Shelf:
        return Shelf(self.home / "reports", "acme")

    @property
    def publications(self) -> list[str]:
        log = self.shelf.path(REPORT, published=True).with_name("publications.log")
        return log.read_text().split() if log.exists() else []

    async def start(self, team: Sequence[Agent] = TEAM, *, limits: RunLimits | None = None) -> Run:
        check = Check("is_published", f'{{"report_id": "{REPORT}"}}')
        return await self.gate.runs.start(
            model=self.model, task="Report the units by region.", principal=ALICE, agent=team[0], agents=team,
            limits=limits, task_id="report", check=check,
        )  # fmt: skip

    async def asked(self, run: Run) -> str:
        """The approval that the run waits for."""
        async for event in run.events():
            if event.state is RunState.WAITING_APPROVAL:
                return (await run.report()).waiting[0]
        raise AssertionError(f"it did not wait: {await run.report()}")

    async def through(self, run: Run) -> RunReport:
        """Have bob approve the one thing that is asked, and see the run through."""
        await self.gate.approvals.approve(await self.asked(run), by=BOB)
        return await run.result(timeout_s=30)

    async def call(self, name: str, arguments: str, *, by: object = ALICE) -> Observation:
        return await self.gate.call(ToolCall("c", name, arguments), principal=by, run="r")  # type: ignore[arg-type]


@asynccontextmanager
async def data_gate(home: Path, model: ScriptedModel, *, mcp: bool = HAS_MCP) -> AsyncIterator[Open]:
    """The gate as the example's program opens it."""
    database, desk = sales_database(home / "sales.db"), Desk()
    tools: Iterable[object] = (*read_tools(database), *report_tools(home / "reports", desk))
    if mcp:
        from mcp_tools import mcp_tools  # type: ignore[import-not-found]

        tools = (*tools, *mcp_tools(database))
    settings = Settings(hand_off_owner=OWNER, runs_every_s=0.05)
    store, policies = home / "interlock.db", FOLDER / "policies"
    async with Gate.open(store, tools=tools, policies=policies, settings=settings, host=Host(models=[model])) as gate:  # type: ignore[arg-type]
        desk.gate = gate
        yield Open(gate, model, home)
