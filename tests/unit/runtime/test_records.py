"""Records: the same fields whatever way a call ended, secrets hidden, digests keyed by tenant."""

from dataclasses import replace

import pytest

from interlock import Caller, Origin, Principal, PrincipalKind, ToolCall
from tests.gates import ALICE, ASKS, READS, Shelf, granted, opened, records, save, search

WHO = {"principal", "kind", "on_behalf_of", "door", "agent", "model", "trace_id", "actor", "run", "task", "call_id"}
WHAT = {"tool", "source", "version", "spec", "effect", "risk", "arguments", "operation", "status"}
WHY = {"answer", "policies", "slice", "reason"}


@pytest.mark.requirement("AUD-1")
async def test_a_record_says_who_on_whose_behalf_through_which_door_with_which_model() -> None:
    bot = Principal("acme", "bot", PrincipalKind.AGENT, acting_for="alice")
    origin = Origin("http", "researcher", "model-1", "trace-9", "root")
    async with opened(":memory:", Shelf().tools) as gate:
        await gate.propose(save(), Caller(bot, run="r1", task="t1", key="k1", origin=origin))
        for record in [each for each in await records(gate) if each["event"].startswith("call.")]:
            assert {name: record[name] for name in WHO} == {
                "principal": "bot", "kind": "agent", "on_behalf_of": "alice", "door": "http", "agent": "researcher",
                "model": "model-1", "trace_id": "trace-9", "actor": "root", "run": "r1", "task": "t1", "call_id": "c1",
            }  # fmt: skip
            assert record.keys() >= WHAT | WHY | {"key", "resource"}


@pytest.mark.requirement("AUD-1", "OBS-5")
async def test_digests_in_records_are_keyed_by_tenant_and_keys_are_never_shown() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        for tenant in ("acme", "globex"):
            await gate.call(save(), principal=replace(ALICE, tenant=tenant), key="order-1")
        (mine,) = await records(gate, "call.settled")
        assert "order-1" not in str(mine)
        assert len(mine["key"]) == len(mine["operation"]) == 32


@pytest.mark.requirement("AUD-1", "OBS-5")
async def test_a_long_result_stands_in_its_record_as_size_and_keyed_digest() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        await gate.call(search("x" * 5_000), principal=ALICE)
        (record,) = await records(gate, "call.settled")
        assert record["arguments"].keys() >= {"bytes", "digest"}
        assert record["result"].keys() >= {"bytes", "digest"}


@pytest.mark.requirement("AUD-1")
async def test_a_call_that_passed_an_approval_names_it_in_every_record() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        approval = await granted(gate)
        await gate.approvals.resume(approval, by=ALICE)
        found = [
            each for each in await records(gate) if each["event"] in ("call.waiting", "call.claimed", "call.settled")
        ]
        assert [each["approval"] for each in found] == [approval] * 3
        voted = await records(gate, "approval.voted")
        assert [(each["principal"], each["approve"], each["state"]) for each in voted] == [("bob", True, "granted")]


@pytest.mark.requirement("AUD-1")
async def test_arguments_that_are_no_json_leave_their_size_and_digest_only() -> None:
    async with opened(":memory:", Shelf().tools, READS) as gate:
        await gate.call(ToolCall("c1", "search", '{"password": "hunter2", '), principal=ALICE)
        (record,) = await records(gate, "call.refused")
        assert record["arguments"].keys() == {"bytes", "digest"}
        assert "hunter2" not in str(record)
