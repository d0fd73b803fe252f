"""What goes back: one shape for every tool, honest in its words, labelled, bounded, and data only."""

import pytest

from interlock import Confidentiality, EvidenceKind, Labels, Result, Source, ToolCall, Trust, tool
from interlock.core.evidence import EvidenceRule
from interlock.core.observation import Status
from interlock.core.tool import OutputCheck
from tests.gates import ALICE, ASKS, BOB, Shelf, code, granted, opened, records, save, search


@pytest.mark.requirement("OBS-1")
async def test_an_effect_says_what_it_changed_what_it_cost_and_where_that_is_on_record(gate_path: str) -> None:
    @tool(effect="write", key=["name"], resource=("Doc", "name"))
    async def publish(name: str) -> Result:
        """Publish a document."""
        return Result({"url": f"/{name}"}, cost_micros=3, tokens=9, resource_version="v2")

    async with opened(gate_path, [publish]) as gate:
        call = ToolCall("c1", "publish", {"name": "d"})
        seen = await gate.call(call, principal=ALICE, task="t")
        assert (seen.call_id, seen.tool, seen.version, seen.status) == ("c1", "publish", "1", Status.OK)
        assert (seen.resource, seen.resource_version, seen.data) == ("Doc/d", "v2", {"url": "/d"})
        assert (seen.usage["cost_micros"], seen.usage["tokens"]) == (3, 9)
        assert seen.operation_id
        assert seen.receipt is not None
        again = await gate.call(call, principal=ALICE, task="t")
        assert (again.replayed, again.executed_at_us, again.usage) == (True, seen.executed_at_us, {})
        assert (again.resource, again.resource_version, again.operation_id) == ("Doc/d", "v2", seen.operation_id)


@pytest.mark.requirement("OBS-2", "IDEM-3")
@pytest.mark.parametrize(
    ("check", "ends", "data"),
    [(OutputCheck.STRICT, "OUTPUT_INVALID", None), (OutputCheck.WARN, "ok", 1), (OutputCheck.OFF, "ok", 1)],
)
async def test_a_result_that_breaks_its_schema_was_executed(check: OutputCheck, ends: str, data: object) -> None:
    ran: list[int] = []

    @tool(effect="write", output_schema={"type": "string"}, output_check=check)
    async def count() -> int:
        """Count."""
        ran.append(1)
        return 1

    async with opened(":memory:", [count]) as gate:
        for _ in range(2):
            seen = await gate.call(ToolCall("c1", "count", ""), principal=ALICE, task="t")
            assert (code(seen), seen.data) == (ends, data)
            assert bool(seen.hint) == (check is not OutputCheck.OFF)
        if seen.error is not None:
            assert "executed" in seen.error.message
    assert ran == [1]


@pytest.mark.requirement("OBS-3")
async def test_evidence_is_of_the_declared_kind_with_the_sources_of_this_result() -> None:
    rule = EvidenceRule(EvidenceKind.CANDIDATE, quotable=True, confirm=True, scope="notes of 2026")

    @tool(effect="read", evidence=rule)
    async def look_up(word: str) -> Result:
        """Look a word up."""
        return Result(word, sources=(Source("doc:1", "One", 2, 4),), data_version="7", data_time_us=5)

    async with opened(":memory:", [look_up]) as gate:
        evidence = (await gate.call(ToolCall("c1", "look_up", {"word": "x"}), principal=ALICE)).evidence
        assert evidence is not None
        assert (evidence.kind, evidence.quotable, evidence.reportable, evidence.confirm) == (
            "candidate",
            True,
            False,
            True,
        )
        assert (evidence.sources, evidence.scope) == ((Source("doc:1", "One", 2, 4),), "notes of 2026")
        assert (evidence.data_version, evidence.data_time_us) == ("7", 5)


@pytest.mark.requirement("OBS-5", "POL-2")
async def test_a_policy_may_permit_a_result_without_some_of_its_fields(gate_path: str) -> None:
    @tool(effect="read")
    async def person(name: str) -> dict[str, str]:
        """Look a person up."""
        return {"name": name, "salary": "12345"}

    policy = '@redact("salary") permit (principal, action, resource);'
    async with opened(gate_path, [person], policy) as gate:
        seen = await gate.call(ToolCall("c1", "person", {"name": "x"}), principal=ALICE)
        assert isinstance(seen.data, dict)
        assert (seen.data["name"], "12345" in str(seen.data)) == ("x", False)
        assert "12345" not in str(await records(gate))


@pytest.mark.requirement("OBS-6")
async def test_results_carry_their_tools_labels_and_invisible_characters_are_removed_and_counted() -> None:
    labels = Labels(Confidentiality.INTERNAL, Trust.UNTRUSTED, frozenset({"web"}))
    hidden = "".join(chr(0xE0000 + ord(each)) for each in "obey")

    @tool(effect="read", labels=labels)
    async def fetch() -> str:
        """Fetch a page."""
        return f"plain{hidden}\u200btext"

    async with opened(":memory:", [fetch]) as gate:
        seen = await gate.call(ToolCall("c1", "fetch", ""), principal=ALICE, run="r")
        assert (seen.data, seen.labels) == ("plaintext", labels)
        assert seen.invisible_removed == 5


@pytest.mark.requirement("OBS-6", "OBS-2")
async def test_a_result_above_its_tools_ceiling_is_withheld_though_it_was_executed() -> None:
    @tool(effect="read")
    async def leak() -> Result:
        """Give more than was declared."""
        return Result("top", labels=Labels(Confidentiality.RESTRICTED))

    async with opened(":memory:", [leak]) as gate:
        seen = await gate.call(ToolCall("c1", "leak", ""), principal=ALICE)
        assert (code(seen), seen.data) == ("OUTPUT_INVALID", None)
        assert seen.error is not None
        assert "executed" in seen.error.message


@pytest.mark.requirement("OBS-1")
async def test_a_result_over_the_limit_is_shortened_and_says_how_large_it_was() -> None:
    @tool(effect="read", output_bytes_max=100)
    async def long() -> str:
        """Give much."""
        return "x" * 1_000

    async with opened(":memory:", [long]) as gate:
        seen = await gate.call(ToolCall("c1", "long", ""), principal=ALICE)
        assert (seen.truncated, len(seen.data_json or b"") <= 100) == (1_002, True)


@pytest.mark.requirement("OBS-7", "OBS-1")
async def test_what_a_user_may_be_told_agrees_with_what_a_record_proves(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        waits = await gate.call(save(), principal=ALICE, task="t")
        assert "done" not in waits.user_text.replace("nothing has been done", "").lower()
        approval = await granted(gate)
        done = await gate.approvals.resume(approval, by=BOB)
        found = await gate.call(search(), principal=ALICE)
        assert (done.user_text, found.status) == ("This is done.", Status.OK)
        missing = await gate.call(ToolCall("c", "nope", "{}"), principal=ALICE)
        assert "nothing was done" in missing.user_text


@pytest.mark.requirement("OBS-7")
async def test_a_partial_result_names_what_is_still_open() -> None:
    @tool(effect="write")
    async def notify() -> Result:
        """Notify several people."""
        return Result({"sent": ["a"]}, open_items=("b",))

    async with opened(":memory:", [notify]) as gate:
        seen = await gate.call(ToolCall("c1", "notify", ""), principal=ALICE, task="t")
        assert (seen.status, seen.open_items) == (Status.PARTIAL, ("b",))
        assert "in part" in seen.user_text
