"""Arguments, schemas and rules that went wrong for others, replayed at the door of a whole gate."""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import cedarpy
import pytest

from interlock import ToolCall, tool
from tests.gates import ALICE, AnyTool, code, opened, records

TroubleCase = Callable[[str], Mapping[str, Any]]


class Taker:
    """A tool with this schema whose handler keeps what reached it."""

    def __init__(self, schema: Mapping[str, Any], *, name: str = "take") -> None:
        self.got: list[dict[str, Any]] = []
        self.tool = self._take(dict(schema), name)

    def _take(self, schema: dict[str, Any], name: str) -> AnyTool:
        @tool(effect="read", name=name, input_schema=schema, output_schema=None)
        async def take(
            files: Any = None, path: str = "", id: Any = None, s: str = "", m: str = "", cmd: str = "",  # noqa: A002
        ) -> Any:  # fmt: skip
            """Take what is given."""
            given = {"files": files, "path": path, "id": id, "s": s, "m": m, "cmd": cmd}
            self.got.append({key: value for key, value in given.items() if value})
            return self.got[-1]

        return take


def schema_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The case's schema, with every parameter that the handler knows."""
    known: dict[str, Any] = {name: {} for name in ("files", "path", "id", "s", "m", "cmd")}
    return {**schema, "properties": {**known, **schema.get("properties", {})}}


async def ends(schema: Mapping[str, Any], *raw: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """How calls with these arguments end, and what reached the handler."""
    taker = Taker(schema_of(schema))
    async with opened(":memory:", [taker.tool]) as gate:
        seen = [await gate.call(ToolCall("c", "take", each), principal=ALICE) for each in raw]
        assert len([each for each in await records(gate) if each["event"] in ("call.settled", "call.refused")]) == len(
            raw
        )
    return [code(each) for each in seen], taker.got


@pytest.mark.trouble
@pytest.mark.requirement("CALL-2")
async def test_absent_arguments_are_an_empty_object(trouble_case: TroubleCase) -> None:
    """ARG-01: models leave the arguments of a call without parameters empty."""
    case = trouble_case("ARG-01")["input"]
    raw = case["arguments_variants"]
    assert await ends(case["tool_schema"], *raw) == (["ok"] * len(raw), [{}] * len(raw))
    needy = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    assert await ends(needy, *raw) == (["TOOL_ARGUMENT_INVALID"] * len(raw), [])


@pytest.mark.trouble
@pytest.mark.requirement("CALL-2")
async def test_json_in_a_string_is_refused_and_never_unwrapped(trouble_case: TroubleCase) -> None:
    """ARG-02: a list sent as text was repaired after the policy had looked at it."""
    case = trouble_case("ARG-02")["input"]
    assert await ends(case["schema"], case["arguments"]) == (["TOOL_ARGUMENT_INVALID"], [])
    union = {"type": "object", "properties": {"files": case["union"]}}
    assert await ends(union, {"files": case["note_value"]}) == (["ok"], [{"files": case["note_value"]}])


@pytest.mark.trouble
@pytest.mark.requirement("CALL-2")
async def test_duplicate_keys_reach_nothing(trouble_case: TroubleCase) -> None:
    """ARG-03: the guard read the first value, the executor used the last."""
    case = trouble_case("ARG-03")["input"]
    assert await ends({"type": "object"}, case["arguments_raw"], case["nested"]) == (["INVALID_JSON"] * 2, [])


@pytest.mark.trouble
@pytest.mark.requirement("CALL-3")
async def test_integers_arrive_as_they_were_written(trouble_case: TroubleCase) -> None:
    """ARG-04: ids beyond 2^53 were rounded."""
    case = trouble_case("ARG-04")["input"]
    raw = [case["arguments_raw"], *[f'{{"id": {each}}}' for each in case["also"]]]
    found, got = await ends(case["schema"], *raw)
    assert found == ["ok"] * len(raw)
    assert [each["id"] for each in got] == [7301992846551000003, *map(int, case["also"])]


@pytest.mark.trouble
@pytest.mark.requirement("CALL-2")
async def test_arguments_that_were_cut_off_reach_nothing(trouble_case: TroubleCase) -> None:
    """ARG-07: a brace was added, and half a file was written."""
    raw = trouble_case("ARG-07")["input"]["arguments_variants"]
    assert await ends({"type": "object"}, *raw) == (["INVALID_JSON"] * len(raw), [])


@pytest.mark.trouble
@pytest.mark.requirement("CALL-6")
async def test_a_pattern_that_explodes_elsewhere_is_answered_at_once(trouble_case: TroubleCase) -> None:
    """SCH-05: a 91-byte schema froze the loop for 12.7 s."""
    case = trouble_case("SCH-05")["input"]
    started = perf_counter()
    assert await ends(case["schema"], case["arguments"]) == (["TOOL_ARGUMENT_INVALID"], [])
    assert perf_counter() - started < 2


@pytest.mark.trouble
@pytest.mark.requirement("POL-3")
async def test_rules_on_text_end_in_an_ask_or_a_denial(trouble_case: TroubleCase) -> None:
    """AUT-01: a static allow by prefix let everything through that was chained behind it."""
    case = trouble_case("AUT-01")["input"]
    taker = Taker(
        schema_of({"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}), name="shell"
    )
    policy = '@approval("approver") permit (principal, action, resource);'
    for rule in case["policy"]:
        kind, like = "permit" if "allow" in rule else "forbid", rule["args.cmd"]
        policy += f'{kind} (principal, action == Action::"shell", resource) when {{ context.args.cmd like "{like}" }};'
    async with opened(":memory:", [taker.tool], policy) as gate:
        calls = [ToolCall("c", "shell", {"cmd": each}) for each in (*case["calls"], case["later"])]
        found = [code(await gate.call(call, principal=ALICE, task="t")) for call in calls]
    assert found == ["APPROVAL_REQUIRED", "APPROVAL_REQUIRED", "PERMISSION_DENIED", "PERMISSION_DENIED"]
    assert taker.got == []


@pytest.mark.trouble
@pytest.mark.requirement("POL-1")
async def test_an_engine_that_fails_denies(trouble_case: TroubleCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """AUT-02: an engine's fault was taken for a permission."""
    taker = Taker(schema_of({"type": "object"}))

    def broken(*_: object, **__: object) -> object:
        raise RuntimeError(trouble_case("AUT-02")["input"]["fault"][0])

    policy = 'permit (principal, action == Action::"take", resource) when { context.run.trust > 0 };'
    async with opened(":memory:", [taker.tool], policy) as gate:
        monkeypatch.setattr(cedarpy, "is_authorized", broken)
        seen = await gate.call(ToolCall("c", "take", {"path": "x"}), principal=ALICE, run="r")
        assert (seen.status.value, taker.got) == ("refused", [])
        (record,) = await records(gate, "call.refused")
        assert (record["code"], record["answer"]) == ("PERMISSION_DENIED", "deny")
