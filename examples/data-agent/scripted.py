"""A model that is no model: it says what a willing one would, so that all of the rest can be shown without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interlock.testing.models import Said, ScriptedModel

SQL: Final = "SELECT region, SUM(units) AS units FROM sales GROUP BY region ORDER BY region"
PUBLISHED: Final = "/published/"
"""What stands in the result of a publication: without it the report is not published, whatever came back."""


def scripted(report_id: str, *, over_mcp: bool) -> ScriptedModel:
    """It goes by what it is shown alone, so a run that was killed goes on with it anywhere."""
    look = [("query_sales", {"sql": SQL}), *([("query_sales_mcp", {"sql": SQL})] if over_mcp else [])]
    lines: dict[str, tuple[Said, ...]] = {
        "You plan.": (("hand_off", {"agent": "data", "message": "Find the units by region."}),),
        "You find": (
            [*look, ("forecast_sales", {})],
            ("hand_off", {"agent": "report", "message": "The units by region are found, and a forecast."}),
        ),
        "You write": (
            ("write_report", {"report_id": report_id, "words": "The west sells most."}),
            ("publish_report", {"report_id": report_id}),
        ),
    }

    def say(body: Mapping[str, object]) -> Said:
        messages = body["messages"]
        assert isinstance(messages, list)
        if any(each["role"] == "tool" and PUBLISHED in str(each["content"]) for each in messages):
            return "The report is published."
        said: tuple[Said, ...] = next(words for begins, words in lines.items() if _is_told(messages, begins))
        turn = sum(1 for each in messages if each["role"] == "assistant")
        return said[min(turn, len(said) - 1)]

    return ScriptedModel(say, name="the script")


def _is_told(messages: list[Mapping[str, object]], begins: str) -> bool:
    return str(messages[0]["content"]).startswith(begins)
