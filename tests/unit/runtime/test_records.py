"""Records: the same fields whatever way a call ended, secrets hidden, digests keyed by tenant."""

import threading
from dataclasses import replace
from typing import Annotated

import pytest

from interlock import Arg, Caller, Context, Host, Origin, Principal, PrincipalKind, ToolCall, tool
from interlock.core.lifecycle import Lifecycle
from interlock.testing.fakes import FakeSecrets
from tests.gates import ALICE, ASKS, OPERATOR, READS, Shelf, code, granted, opened, records, save, search

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


REDACTS = '@id("hides") @redact("text") permit (principal, action, resource);'
FORBIDS = (
    f'{REDACTS} @id("no") forbid (principal, action == Action::"save", resource) when {{ context.args.note == "n2" }};'
)


@pytest.mark.requirement("POL-6", "OBS-5", "AUD-1")
async def test_arguments_that_policy_has_redacted_stand_clear_in_no_record() -> None:
    async with opened(":memory:", Shelf().tools, FORBIDS) as gate:
        await gate.call(save(text="PRIVATE"), principal=ALICE, task="t")
        await gate.call(save(text="PRIVATE"), principal=ALICE, task="t")
        assert code(await gate.call(save("n2", text="PRIVATE"), principal=ALICE, task="t")) == "PERMISSION_DENIED"
        assert code(await gate.call(save(text="PRIVATE"), principal=ALICE)) == "IDEMPOTENCY_REQUIRED"
        found = [each for each in await records(gate) if each["event"].startswith("call.")]
        assert len(found) == 5
        assert "PRIVATE" not in str(found)
        assert {each["arguments"]["text"] for each in found} == {"[redacted]"}


@pytest.mark.requirement("POL-6", "EXEC-1")
async def test_a_result_that_comes_too_late_is_recorded_as_redacted_as_one_in_time() -> None:
    go = threading.Event()

    @tool(effect="write", name="slow", key=["text"], locks=["desk"], timeout_ms=20)
    def slow(text: str) -> dict[str, str]:
        """Be slow."""
        go.wait(10)
        return {"text": text}

    async with opened(":memory:", [slow], REDACTS) as gate:
        seen = await gate.call(ToolCall("c1", "slow", {"text": "PRIVATE"}), principal=ALICE, task="t")
        assert code(seen) == "OUTCOME_UNKNOWN"
        go.set()
        await gate.call(ToolCall("c2", "slow", {"text": "next"}), principal=ALICE, task="t")  # waits for its lock
        (late,) = await records(gate, "call.late")
        assert (late["arguments"], late["result"]) == ({"text": "[redacted]"}, {"text": "[redacted]"})


@pytest.mark.requirement("POL-6", "AUD-1")
async def test_a_resource_that_a_redacted_argument_names_stands_in_no_record() -> None:
    async with opened(":memory:", Shelf().tools, REDACTS.replace("text", "note")) as gate:
        await gate.call(save("PRIVATE"), principal=ALICE, task="t")
        found = await records(gate, "call.settled")
        assert [each["resource"] for each in found] == ["Note/[redacted]"]
        assert "PRIVATE" not in str(found[0]["arguments"])


class Unprintable(dict[str, object]):
    def __repr__(self) -> str:
        raise RuntimeError("printed")


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize("arguments", [{"query": 10**5000}, Unprintable(query=object()), Unprintable(query="x")])
async def test_arguments_are_recorded_without_being_printed(arguments: dict[str, object]) -> None:
    async with opened(":memory:", Shelf().tools, READS) as gate:
        seen = await gate.call(ToolCall("c1", "nosuch", arguments), principal=ALICE)
        assert code(seen) == "TOOL_NOT_FOUND"
        seen = await gate.call(ToolCall("c2", "search", arguments), principal=ALICE)
        assert code(seen) in ("INVALID_JSON", "ok")
        assert [each["call_id"] for each in await records(gate) if each["event"].startswith("call.")] == ["c1", "c2"]


@pytest.mark.requirement("OBS-5")
async def test_secrets_in_what_a_model_says_beside_its_arguments_are_in_no_record() -> None:
    planted = "plant-3c9d5e21aa"
    async with opened(":memory:", Shelf().tools, secrets=(planted,)) as gate:
        for at in range(490, 520):
            call = ToolCall(f"id-{planted}-{at}", "search", {"query": "x"}, expectation="e" * at + planted)
            assert (await gate.call(call, principal=ALICE)).call_id == call.id
        await gate.call(ToolCall(f"id-{planted}", "x" * 120 + planted), principal=ALICE)
        assert planted[:6] not in str(await records(gate))


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("place", ["arguments", "id", "result", "nowhere"])
async def test_a_secret_in_one_part_of_a_read_is_hidden_there_and_the_others_stay(place: str) -> None:
    planted = "plant-3c9d5e21aa"
    parts = {"arguments": "plain-1", "id": "plain-2", "result": "plain-3"} | {place: planted}

    @tool(effect="read")
    async def look(query: str) -> str:
        """Look something up."""
        return f"{parts['result']} for {len(query)}"

    async with opened(":memory:", [look], secrets=(planted,)) as gate:
        call = ToolCall(parts["id"], "look", {"query": parts["arguments"]})
        seen = await gate.call(call, principal=ALICE)
        (record,) = await records(gate, "call.settled")
        told = {
            "arguments": record["arguments"]["query"],
            "id": record["call_id"],
            "result": record["result"].removesuffix(f" for {len(parts['arguments'])}"),
        }
        assert {part for part in told if told[part] != parts[part]} == {place} - {"nowhere"}
        assert planted[:6] not in str(record) + str(seen.data)


@tool(effect="read", secrets=["token"])
async def reach(query: str, context: Context) -> dict[str, str]:
    """Reach for what it was given."""
    return {"text": f"{context.secrets['token']} and {query}"}


@pytest.mark.requirement("OBS-5")
async def test_a_read_hides_the_credentials_that_it_was_given() -> None:
    async with opened(":memory:", [reach], host=Host(secrets=FakeSecrets({"token": "cred-77f0b6a1e9"}))) as gate:
        seen = await gate.call(ToolCall("c1", "reach", {"query": "words"}), principal=ALICE)
        (record,) = await records(gate, "call.settled")
        assert seen.data == record["result"] == {"text": "[redacted] and words"}


@pytest.mark.requirement("OBS-5")
async def test_a_read_hides_an_argument_that_is_marked_as_sensitive() -> None:
    @tool(effect="read")
    async def tell(marked: Annotated[str, Arg(sensitive=True)]) -> str:
        """Tell something."""
        return "told"

    async with opened(":memory:", [tell]) as gate:
        await gate.call(ToolCall("c1", "tell", {"marked": "words"}), principal=ALICE)
        (record,) = await records(gate, "call.settled")
        assert record["arguments"] == {"marked": "[redacted]"}


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("policy", [READS, REDACTS], ids=["all shown", "a field hidden"])
async def test_a_read_of_plain_words_hides_what_policy_names_and_what_it_was_cleaned_to(policy: str) -> None:
    @tool(effect="read")
    async def tell(text: str) -> dict[str, str]:
        """Tell what was asked."""
        return {"text": text, "more": "pla\u200bnt-3c9d5e21aa"}

    async with opened(":memory:", [tell], policy, secrets=("plant-3c9d5e21aa",)) as gate:
        seen = await gate.call(ToolCall("c1", "tell", {"text": "t"}), principal=ALICE)
        (record,) = await records(gate, "call.settled")
        told = "t" if policy is READS else "[redacted]"
        assert record["arguments"] == {"text": told}
        assert seen.data == record["result"] == {"text": told, "more": "[redacted]"}


@pytest.mark.requirement("AUD-1")
async def test_records_around_a_call_say_what_a_review_counts_of_it() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        await gate.call(search(), principal=ALICE)
        approval = await granted(gate)
        await gate.approvals.resume(approval, by=ALICE)
        (read, written) = await records(gate, "call.settled")
        assert (read["external"], read["evidence"], written["external"]) == (False, "status", False)
        (voted,) = await records(gate, "approval.voted")
        (waiting,) = await records(gate, "call.waiting")
        assert (voted["tool"], voted["version"]) == ("save", waiting["version"])
        assert voted["asked_at_us"] <= waiting["expires_at_us"]


@pytest.mark.requirement("AUD-1")
async def test_a_refusal_on_the_way_back_from_an_approval_names_that_approval() -> None:
    async with opened(":memory:", Shelf().tools, ASKS) as gate:
        approval = await granted(gate)
        await gate.catalogue.move("save", Lifecycle.FROZEN, by=OPERATOR, reason="stop")
        await gate.approvals.resume(approval, by=ALICE)
        (refused,) = await records(gate, "call.refused")
        assert (refused["code"], refused["approval"]) == ("TOOL_FROZEN", approval)
