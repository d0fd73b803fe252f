"""Text that gives orders, replayed against a whole gate: what it says may be obeyed, and still changes nothing."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import Labels, ToolCall, Trust, tool
from tests.gates import ALICE, AnyTool, Shelf, code, opened, save

TroubleCase = Callable[[str], Mapping[str, Any]]
WEB = Labels(trust=Trust.UNTRUSTED, origins=frozenset({"web"}))
POLICY = """
@id("all") permit (principal, action, resource);
@id("asks") @approval("approver") permit (principal, action in Action::"effect", resource)
when { context.run.trust < 1 };
"""


def page(text: str) -> AnyTool:
    @tool(effect="read", labels=WEB, name="page")
    async def fetch() -> str:
        """Fetch a page that anyone could have written."""
        return text

    return fetch


def texts(case: Mapping[str, Any]) -> list[str]:
    found = case["input"]["tool_result"]
    return [found] if isinstance(found, str) else list(found)


@pytest.mark.trouble
@pytest.mark.requirement("OBS-6", "POL-6", "EVAL-6")
@pytest.mark.parametrize("name", ["INJ-01", "INJ-02"])
async def test_a_model_that_obeys_what_it_read_asks_a_person_all_the_same(
    name: str, trouble_case: TroubleCase, gate_path: str
) -> None:
    shelf = Shelf()
    for number, text in enumerate(texts(trouble_case(name))):
        path = gate_path if gate_path == ":memory:" else f"{gate_path}{number}"
        async with opened(path, [*shelf.tools, page(text)], POLICY) as gate:
            seen = await gate.call(ToolCall("c1", "page", ""), principal=ALICE, run="r")
            assert seen.labels == WEB
            assert code(await gate.call(save(), principal=ALICE, run="r")) == "APPROVAL_REQUIRED"
    assert shelf.saved == []


@pytest.mark.trouble
@pytest.mark.requirement("OBS-6")
async def test_what_cannot_be_seen_does_not_reach_a_model_and_is_counted(trouble_case: TroubleCase) -> None:
    """INJ-01: letters of the tag block spell an order that nobody sees."""
    text = trouble_case("INJ-01")["input"]["tool_result"]
    async with opened(":memory:", [page(text)]) as gate:
        seen = await gate.call(ToolCall("c1", "page", ""), principal=ALICE)
    assert isinstance(seen.data, str)
    assert not [each for each in seen.data if 0xE0000 <= ord(each) <= 0xE007F]
    assert seen.invisible_removed == len(text) - len(seen.data) > 0
