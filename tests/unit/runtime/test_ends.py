"""Ends at which nothing runs: whoever asks, and whatever the call is called, there is one refusal and one record."""

from dataclasses import replace

import pytest

from interlock import Principal, ToolCall
from tests.gates import ALICE, Shelf, code, opened, records, save, search

pytestmark = pytest.mark.anyio

UNFIT = ["\ud800", "a\0b", "x" * 513]


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize("text", UNFIT)
@pytest.mark.parametrize("name", ["run", "task", "key"])
async def test_a_call_whose_place_cannot_be_recorded_is_refused_on_record(gate_path: str, name: str, text: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        assert code(await gate.call(save(), principal=ALICE, **{"task": "t", name: text})) == "CONTEXT_MISSING"
        (record,) = await records(gate, "call.refused")
        assert (record["code"], record["call_id"]) == ("CONTEXT_MISSING", "c1")
        assert all(len(str(value)) <= 512 for value in record.values())
    assert shelf.saved == []


@pytest.mark.requirement("CALL-8", "EXEC-4")
@pytest.mark.parametrize("text", UNFIT)
@pytest.mark.parametrize("name", ["run", "task"])
async def test_each_call_of_a_batch_whose_place_cannot_be_recorded_is_refused(name: str, text: str) -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        calls = [save(id="c1"), search(id="c2"), save(id="c3")]
        run, task = (text, "t") if name == "run" else (None, text)
        seen = await gate.call_many(calls, principal=ALICE, run=run, task=task)
        assert [code(each) for each in seen] == ["CONTEXT_MISSING"] * 3
        assert [each["call_id"] for each in await records(gate, "call.refused")] == ["c1", "c2", "c3"]


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize("text", UNFIT)
async def test_a_principal_that_cannot_be_recorded_is_refused_on_record(gate_path: str, text: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        for principal in (Principal("acme", text), replace(ALICE, acting_for=text), replace(ALICE, actor=text)):
            assert code(await gate.call(search(), principal=principal)) == "CONTEXT_MISSING"
        assert len(await records(gate, "call.refused")) == 3
        assert code(await gate.call(search(), principal=Principal(text, "alice"))) == "CONTEXT_MISSING"


@pytest.mark.requirement("CALL-8", "AUD-1")
async def test_a_call_id_without_end_is_refused_and_neither_stored_nor_sent_back(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        seen = await gate.call(ToolCall("i" * 3_000_000, "t" * 3_000_000), principal=ALICE)
        assert (code(seen), len(seen.call_id), len(seen.tool)) == ("TOOL_ARGUMENT_INVALID", 256, 128)
        (record,) = await records(gate, "call.refused")
        assert (len(record["call_id"]), len(record["tool"])) == (256, 128)


@pytest.mark.requirement("CALL-4", "OBS-5")
async def test_a_name_that_is_too_long_for_a_tool_is_not_repeated() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        seen = await gate.call(ToolCall("c1", "t" * 129), principal=ALICE)
        assert seen.error is not None
        assert seen.error.message == "There is no tool of that name."
