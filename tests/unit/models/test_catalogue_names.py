"""A proposed call means one tool of the catalogue, or a name that no tool has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Gate, PolicySource, ToolCall
from interlock.core.observation import Status
from interlock.declare import tool
from interlock.models.catalogue_names import Parts, catalogue_name, parts, qualified
from interlock.models.names import spell
from interlock.models.turn import CallKind, Proposed
from tests.gates import ALICE, ALL

OFFERED = ("mail.send", "pay", "shell", "ns:tools/rate", "kind:apply_patch_call", "mcp:zip1/taken")
NAMES = spell(OFFERED)
TEXTS = st.text(max_size=6) | st.sampled_from(
    ["", "a", "a/b", "mcp:a/", "ns:a/b", "kind:x", "%2F", "a:b", " ", "\ud800"]
)


def call(name: str, *, kind: CallKind = CallKind.FUNCTION, server: str = "", namespace: str = "") -> Proposed:
    return Proposed(0, "c", "c", name, "{}", kind=kind, server=server, namespace=namespace)


def meant(call: Proposed) -> str:
    return catalogue_name(call, NAMES)


def test_a_tool_that_was_offered_is_meant_by_its_spelling_alone() -> None:
    assert [meant(call(NAMES.to_wire[name])) for name in OFFERED[:3]] == list(OFFERED[:3])
    assert meant(call("pay", kind=CallKind.CUSTOM)) == "pay"
    assert meant(call("mail.send")) == " mail.send"
    assert [meant(call(name)) for name in ("Pay", "pay ", "pya", "")] == [" Pay", " pay ", " pya", " "]


@pytest.mark.requirement("LOOP-4")
def test_a_hosted_servers_request_means_no_tool_of_our_own_of_the_same_name() -> None:
    asked = call("pay", kind=CallKind.MCP_APPROVAL, server="zip1")
    assert meant(asked) == "mcp:zip1/pay"
    assert meant(call("taken", kind=CallKind.MCP_APPROVAL, server="zip1")) == " mcp:zip1/taken"
    assert meant(call("pay", kind=CallKind.MCP_APPROVAL)) == " kind:mcp_approval_request"


def test_a_namespace_is_part_of_what_is_meant_but_for_one_that_only_says_the_name_again() -> None:
    assert meant(call("rate", namespace="tools")) == "ns:tools/rate"
    assert meant(call("pay", namespace="tools")) == " ns:tools/pay"
    assert meant(call("pay", namespace="pay")) == "pay"


def test_a_kind_of_the_providers_own_is_no_function_of_the_same_name() -> None:
    assert meant(call("shell", kind=CallKind.SHELL)) == " kind:shell_call"
    assert meant(call("apply_patch", kind=CallKind.APPLY_PATCH)) == "kind:apply_patch_call"


@given(st.tuples(TEXTS, TEXTS, TEXTS))
def test_a_qualified_name_can_be_read_back(named: tuple[str, str, str]) -> None:
    one = Parts(*named)
    if one.server or one.namespace:
        assert parts(qualified(one)) == one
    assert parts(qualified(Parts("", "", "", "shell_call"))) == Parts("", "", "", "shell_call")


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, st.sampled_from(CallKind)), max_size=8), st.lists(TEXTS, max_size=4))
def test_no_two_tools_of_the_wire_are_one_of_the_catalogue(
    named: list[tuple[str, str, str, CallKind]], offered: list[str]
) -> None:
    names = spell({*offered, *OFFERED})
    asked = [call(name, kind=kind, server=server, namespace=space) for server, space, name, kind in named]
    asked += [call(wire_name) for wire_name in names.from_wire]
    by_name: dict[str, set[tuple[object, ...]]] = {}
    for each in asked:
        plain = not each.server and each.kind in {CallKind.FUNCTION, CallKind.CUSTOM, CallKind.LEGACY_FUNCTION}
        space = "" if plain and each.namespace == each.name else each.namespace
        which: tuple[object, ...] = (each.server, space, each.name)
        if not each.server and not plain:
            which = (each.kind,)
        name = catalogue_name(each, names)
        assert name[:1] == " " or each.server or name in names.to_wire
        by_name.setdefault(name, set()).add(which)
    known = {name: which for name, which in by_name.items() if not name.startswith(" ")}
    assert [which for name, which in known.items() if len(which) > 1 and not name.startswith(("ns:", "kind:"))] == []


@pytest.mark.anyio
async def test_the_gate_finds_no_tool_under_a_name_that_was_not_offered() -> None:
    @tool(effect="read", owner="eng", name="pay")
    async def pay() -> str:
        """Pay."""
        return "paid"

    async with Gate.open(tools=[pay], policies=[PolicySource("all", ALL)]) as gate:
        for name in ("pay", "mcp:zip1/pay"):
            seen = await gate.call(ToolCall("c", f" {name}", "{}"), principal=ALICE)
            assert seen.error is not None
            assert seen.error.code == "TOOL_NOT_FOUND"
        assert (await gate.call(ToolCall("c", "pay", "{}"), principal=ALICE)).status is Status.OK
