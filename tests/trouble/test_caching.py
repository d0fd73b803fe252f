"""Reads that were cached for the wrong caller, or beyond a write, as others met them."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import CacheRule, Context, Principal, ToolCall, ToolFault, tool
from tests.gates import ALICE, AnyTool, code, opened

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("CACHE-1")]

Case = Callable[[str], Mapping[str, Any]]


async def test_a_read_without_arguments_is_not_given_to_another_caller(trouble_case: Case) -> None:
    case = trouble_case("CCH-01")["input"]

    @tool(effect="read", owner="eng", name=case["tool"], cache=CacheRule(300))
    async def who_am_i(context: Context) -> str:
        """Say who asks."""
        return f"{context.principal.tenant}/{context.principal.id}"

    callers = [Principal(*caller.split("/")) for caller in case["callers"]]
    async with opened(":memory:", (who_am_i,)) as gate:
        call = ToolCall("c", case["tool"], case["args"])
        told = [(await gate.call(call, principal=each)).data for each in [*callers, *callers]]
    assert told == [*case["callers"], *case["callers"]]


class Draft:
    """Something that is validated, and changed until nothing is wrong with it."""

    def __init__(self) -> None:
        self.problems = ["a", "b", "c"]
        self.is_read = False

    def tools(self) -> tuple[AnyTool, ...]:
        @tool(effect="read", owner="eng", resource=("Draft", "draft"), cache=CacheRule(300))
        async def validate(draft: str) -> list[str]:
            """Say what is wrong."""
            self.is_read = True
            return self.problems

        @tool(effect="idempotent_write", owner="eng", key=["draft", "change"], resource=("Draft", "draft"))
        async def update(draft: str, change: str) -> None:
            """Change it."""
            if not self.is_read:
                raise ToolFault("read first")
            self.problems = []

        return (validate, update)


async def test_a_read_after_a_write_sees_what_was_written(trouble_case: Case) -> None:
    assert len(trouble_case("CCH-03")["input"]["calls"]) == 3
    async with opened(":memory:", Draft().tools()) as gate:
        validate = ToolCall("c1", "validate", {"draft": "d"})
        told = (await gate.call(validate, principal=ALICE, task="t")).data
        assert isinstance(told, list)
        told.clear()  # what one was given is nobody else's
        again = await gate.call(validate, principal=ALICE, task="t")
        assert (again.data, again.cached_s is None) == (["a", "b", "c"], False)
        await gate.call(ToolCall("c2", "update", {"draft": "d", "change": "x"}), principal=ALICE, task="t")
        assert (await gate.call(validate, principal=ALICE, task="t")).data == []


async def test_a_write_that_failed_for_want_of_a_read_may_be_tried_again(trouble_case: Case) -> None:
    assert trouble_case("CCH-03")["input"]["variant"][0].endswith("error")
    async with opened(":memory:", Draft().tools()) as gate:
        update = ToolCall("c2", "update", {"draft": "d", "change": "x"})
        assert (await gate.call(update, principal=ALICE, task="t")).error is not None
        await gate.call(ToolCall("c1", "validate", {"draft": "d"}), principal=ALICE, task="t")
        assert code(await gate.call(update, principal=ALICE, task="t")) == "ok"
