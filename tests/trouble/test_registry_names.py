"""Two sources that offer a tool of the same name: none silently takes the place of the other."""

from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import McpTool, ToolCall, tool
from interlock.core.errors import SpecInvalid, VersionExists
from tests.gates import ALICE, ALL, OPERATOR, code, opened, records
from tests.mcp_upstream import Upstream, declared, over_stdio

TroubleCase = Callable[[str], Mapping[str, Any]]

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("REG-1")]


def servers(given: Mapping[str, Any], folder: Path) -> dict[str, Upstream]:
    """Each server of the case, with a log of what it was asked."""
    found = {}
    for each in given["servers"]:
        (folder / each["id"]).mkdir()
        found[each["id"]] = over_stdio(folder / each["id"])
    return found


def exported(name: str, found: Upstream, **more: Any) -> McpTool:
    return declared(found.server, name=name, **more)


@pytest.mark.parametrize("order", [0, 1])
async def test_reg_02_two_servers_with_one_name_do_not_open_in_either_order(
    trouble_case: TroubleCase, order: int, gate_path: str, tmp_path: Path
) -> None:
    given = trouble_case("REG-02")["input"]
    both = [*permutations(servers(given, tmp_path).values())][order]
    with pytest.raises(VersionExists, match="two tools are called send_email") as told:
        async with opened(gate_path, [exported(given["call"], each) for each in both], ALL):
            pass
    assert all(exported("x", each).code.server.identity in str(told.value) for each in both)


async def test_reg_02_one_that_is_loaded_later_takes_no_calls_of_the_first(
    trouble_case: TroubleCase, gate_path: str, tmp_path: Path
) -> None:
    given = trouble_case("REG-02")["input"]
    first, later = servers(given, tmp_path).values()
    async with opened(gate_path, [exported(given["call"], first)], ALL) as gate:
        with pytest.raises(VersionExists):
            await gate.catalogue.register([exported(given["call"], later).spec()], by=OPERATOR)
        seen = await gate.call(ToolCall("c", given["call"], {"thing": "7"}), principal=ALICE, task="t")
        assert code(seen) == "ok"
    assert (len(first.noted("done")), len(later.noted("sent"))) == (1, 0)


async def test_reg_02_under_two_names_each_is_called_and_recorded_as_itself(
    trouble_case: TroubleCase, gate_path: str, tmp_path: Path
) -> None:
    given = trouble_case("REG-02")["input"]
    found = servers(given, tmp_path)
    tools = [exported(f"{name}.{given['call']}", each) for name, each in found.items()]
    async with opened(gate_path, tools, ALL) as gate:
        for made in tools:
            seen = await gate.call(ToolCall("c", made.name, {"thing": "7"}), principal=ALICE, task="t")
            assert code(seen) == "ok"
        digests = {each.name: (await gate.catalogue.list_versions(each.name))[0].digest for each in tools}
        told = {(each["tool"], each["spec"]) for each in await records(gate) if each.get("spec")}
    assert [len(each.noted("done")) for each in found.values()] == [1, 1]
    assert len({*digests.values()}) == 2
    assert told == {*digests.items()}


async def test_two_functions_with_one_name_do_not_open_and_the_same_one_twice_is_one(gate_path: str) -> None:
    @tool(effect="read", owner="eng", name="look")
    async def one(query: str) -> str:
        """Look something up."""
        return query

    @tool(effect="read", owner="eng", name="look")
    async def other(query: str) -> str:
        """Look something up."""
        return query * 2

    with pytest.raises(SpecInvalid, match="two tools are called look"):
        async with opened(gate_path, [one, other], ALL):
            pass
    async with opened(gate_path, [one, one], ALL) as gate:
        assert len(await gate.catalogue.list_versions("look")) == 1
        assert (await gate.call(ToolCall("c", "look", {"query": "x"}), principal=ALICE)).data == "x"
