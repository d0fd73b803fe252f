"""The tool that searches gives names and one line each, and is refused where there is no run that could use them."""

from typing import Any

import pytest

from interlock import Principal, ToolCall
from interlock.core.choice import FoundTool
from interlock.core.errors import ToolFault
from interlock.core.functions import Context, Functions
from interlock.declare.find_tools import NOTHING, OFFERED, find_tools
from tests.gates import ALICE, Shelf, opened

pytestmark = pytest.mark.requirement("REG-10")


class Run:
    """A run `r` of alice, which has one tool."""

    async def find(self, query: str, *, run_id: str, by: Principal, most: int) -> tuple[FoundTool, ...] | None:
        if (run_id, by) != ("r", ALICE):
            return None
        return (FoundTool("mail", "1", "Sends mail.", 1.0, {}),)[: most if query == "mail" else 0]


async def searched(query: str, *, run: str | None = "r") -> Any:
    context = Context(ALICE, "o", "k", 1, 0.0, run=run)
    return await find_tools(Run(), owner="eng").code.handler(query=query, context=context, limit=5)


async def test_it_gives_names_and_says_when_they_can_be_called() -> None:
    assert await searched("mail") == {"tools": [{"name": "mail", "description": "Sends mail."}], "note": OFFERED}
    assert await searched("rain") == {"tools": [], "note": NOTHING}


@pytest.mark.parametrize("run", [None, "other"])
async def test_without_a_run_that_is_driven_here_nothing_is_found(run: str | None) -> None:
    with pytest.raises(ToolFault, match="no run here"):
        await searched("mail", run=run)


async def test_a_call_from_outside_a_run_learns_no_name() -> None:
    async with opened(":memory:", Shelf().tools, finding_owner="eng") as gate:
        seen = await gate.call(ToolCall("1", "find_tools", {"query": "search"}), principal=ALICE)
        assert seen.error is not None
        assert "no run here" in seen.error.message
        assert await gate.runs.find("search", run_id="none", by=ALICE, most=5) is None


def test_what_it_takes_is_bounded() -> None:
    spec = find_tools(Run(), owner="eng").spec()
    properties = spec.input_schema.value["properties"]  # type: ignore[index,call-overload]
    assert properties["query"]["maxLength"] == 1_000  # type: ignore[index,call-overload]
    assert properties["limit"]["maximum"] == 20  # type: ignore[index,call-overload]
    assert isinstance(find_tools(Run(), owner="eng").code, Functions)
