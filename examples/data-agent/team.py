"""Who takes part: people of two tenants, and the agents that a task is handed to, one after another."""

from __future__ import annotations

from typing import Final

from interlock import Agent, Principal, PrincipalKind

ALICE: Final = Principal("acme", "alice", groups=frozenset({"data"}))
BOB: Final = Principal("acme", "bob", groups=frozenset({"editor"}))
EDITOR_ON_DUTY: Final = Principal("acme", "editor-on-duty", PrincipalKind.SERVICE, frozenset({"editor"}))
AUDITOR: Final = Principal("acme", "auditor", groups=frozenset({"auditor"}))
CAROL: Final = Principal("globex", "carol", groups=frozenset({"data"}))
"""Somebody of another tenant, who sees nothing of all this."""

PLANNER: Final = Agent(
    "planner",
    "You plan. You see no data yourself: hand the task to data, and say what has to be found out.",
    tools=(),
    hand_offs=("data",),
)
DATA: Final = Agent(
    "data",
    "You find figures with SQL over sales(day, region, product, units, amount_cents). Then hand the task to report.",
    "finds figures in the sales",
    tools=("query_sales", "query_sales_mcp", "forecast_sales"),
    hand_offs=("report",),
)
REPORT: Final = Agent(
    "report",
    "You write the report with write_report, and then publish it with publish_report.",
    "writes and publishes the report",
    tools=("write_report", "publish_report"),
)
TEAM: Final = (PLANNER, DATA, REPORT)


def small_team(report_id: str) -> tuple[Agent, ...]:
    """Agents for a very small model: one or two tools each, and the last has none, so that it ends.

    Each line of the instructions is what it hears in one turn, and names the tool at its end.
    """
    return (
        Agent("planner", 'Hand "sum the sales" to "data" with hand_off.', tools=(), hand_offs=("data",)),
        Agent(
            "data",
            'Sum the sales by "region" with sum_sales.\nHand "write a report" to "writer" with hand_off.',
            "sums the sales",
            tools=("sum_sales",),
            hand_offs=("writer",),
        ),
        Agent(
            "writer",
            f'Write the report "{report_id}" with write_report.\nHand "publish it" to "publisher" with hand_off.',
            "writes the report",
            tools=("write_report",),
            hand_offs=("publisher",),
        ),
        Agent(
            "publisher",
            f'Publish the report "{report_id}" with publish_report.\nHand "it is done" to "closer" with hand_off.',
            "publishes the report",
            tools=("publish_report",),
            hand_offs=("closer",),
        ),
        Agent("closer", "Say in one sentence what was done.", "ends the task", tools=()),
    )
