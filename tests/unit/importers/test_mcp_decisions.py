"""What a person decides about a listed tool is what the tool is; hints decide nothing."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.labels import Trust
from interlock.core.schema import compile_schema
from interlock.importers.mcp import load_mcp
from interlock.importers.mcp_decisions import read_decision
from tests.mcp_snapshots import allowed, entry, loaded, of_schema, taken, tool

pytestmark = pytest.mark.requirement("REG-9")

OPEN = of_schema(to={"type": "string"}, cc={"type": "string"}, copies={"type": "integer"})


def accepts(arguments: Any, **decided: Any) -> bool:
    schema: Any = tool(OPEN, **decided).spec().input_schema.value
    return compile_schema(schema).is_valid(arguments)


def test_the_worst_is_meant_until_a_person_says_less() -> None:
    lying = entry("delete_all", annotations={"readOnlyHint": True, "openWorldHint": False})
    spec = tool(lying).spec()
    assert (spec.effect, spec.external, spec.owner, spec.source) == (Effect.WRITE, True, "office", "mcp")
    assert spec.labels.trust is Trust.UNTRUSTED
    said = tool(lying, effect=Effect.DESTRUCTIVE, external=False, options={"risk": "high", "description": "Ours."})
    assert (said.spec().effect, said.spec().external, said.spec().description) == (Effect.DESTRUCTIVE, False, "Ours.")


def test_hidden_fixed_and_narrowed_arguments_are_held_to_what_was_decided() -> None:
    assert accepts({"to": "a", "cc": "b"})
    assert not accepts({"to": "a", "bcc": "b"})
    assert not accepts({"cc": "b"}, hide=("cc",))
    assert accepts({"to": "a"}, hide=("cc",))
    assert not accepts({"copies": 2}, fix={"copies": 1})
    assert accepts({"copies": 1}, fix={"copies": 1})
    assert not accepts({"to": "b@evil.test"}, narrow={"to": {"pattern": "@example[.]com$"}})


def test_a_fixed_argument_that_must_be_sent_is_filled_in() -> None:
    spec = tool(entry(), fix={"to": "office"}).spec()
    schema: Any = spec.input_schema.value
    assert schema["required"] == []
    assert compile_schema(schema).with_defaults({}) == {"to": "office"}


@pytest.mark.parametrize(
    ("decided", "says"),
    [
        ({"hide": ("to",)}, "hide: to must be sent; fix it instead"),
        ({"hide": ("ot",)}, "hide: there is no 'ot'"),
        ({"fix": {"to": 7}}, "fix: to does not fit"),
        ({"narrow": {"to": {"type": "strnig"}}}, "malformed at"),
        ({"options": {"timeout_ms": 0}}, "timeout_ms"),
    ],
)
def test_a_decision_that_does_not_fit_makes_no_tool_and_harms_no_other(decided: Any, says: str) -> None:
    snapshot = allowed(taken(entry("one"), entry("two")))
    tools = {**snapshot.tools, "one": replace(snapshot.tools["one"], **decided)}
    from_both = load_mcp(replace(snapshot, tools=tools))
    assert [each.name for each in from_both.tools] == ["two"]
    assert says in from_both.refused[0].reason


def test_what_could_be_sent_all_the_same_cannot_be_hidden() -> None:
    free = entry(inputSchema={"type": "object", "properties": {"a": {}}, "additionalProperties": True})
    assert "could be sent all the same" in loaded(free, hide=("a",)).refused[0].reason


def test_a_file_that_was_edited_where_only_the_server_speaks_is_refused() -> None:
    decision = taken(entry()).tools["send"]
    said: dict[str, Any] = {
        "name": "send",
        "effect": "write",
        "external": True,
        "digest": decision.digest,
        "listed": decision.listed.document.text.decode(),
    }
    assert read_decision("send", said, path="x").listed == decision.listed
    for wrong, says in (
        ({"digest": "0" * 64}, "renew the snapshot"),
        ({"listed": said["listed"].replace("letter", "bomb")}, "renew the snapshot"),
        ({"listed": "{"}, "x.listed: line 1"),
        ({"listed": "{}"}, "x.listed: its name"),
        ({"effct": "read"}, "is it 'effect'"),
        ({"url": "https://evil.test"}, "there is no 'url'"),
        ({"external": "no"}, "true or false"),
    ):
        with pytest.raises(SpecInvalid, match=says):
            read_decision("send", {**said, **wrong}, path="x")
    with pytest.raises(SpecInvalid, match="renew the snapshot"):
        read_decision("other", said, path="x")
    with pytest.raises(SpecInvalid, match="external is missing"):
        read_decision("send", {name: each for name, each in said.items() if name != "external"}, path="x")


def test_a_tool_that_a_person_calls_as_one_of_the_gates_own_is_none_and_harms_no_other() -> None:
    snapshot = allowed(taken(entry(), entry("other")))
    edited = replace(snapshot.tools["send"], name="hand_off")
    found = load_mcp(replace(snapshot, tools={**snapshot.tools, "send": edited}))
    assert [each.spec().name for each in found.tools] == ["other"]
    assert found.refused[0].reason == "name: hand_off is what a tool of the gate itself is called; say another"
    assert tool(entry("find_tools")).spec().name.startswith("find_tools_")
