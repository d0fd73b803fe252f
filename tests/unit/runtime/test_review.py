"""A review at the gate: it counts what really happened, for those who may read the log, of their own tenant alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from interlock import Caller, Gate, Origin, Principal, PrincipalKind, ToolCall, tool
from interlock.core.decision import Deny
from interlock.core.journal import AuditQuery, AuditRecord
from interlock.core.lifecycle import Lifecycle
from interlock.core.move_gates import Grounds
from interlock.core.review import Review
from interlock.core.review_proposals import Kind
from interlock.core.review_rules import ReviewRules
from interlock.core.review_tool import Gap, ToolReview
from interlock.runtime import review as reviewing
from interlock.store.memory import MemoryStore
from tests.gates import (
    ALICE,
    ASKS,
    AUDITOR,
    BOB,
    OPERATOR,
    AnyTool,
    Shelf,
    asked,
    code,
    granted,
    opened,
    records,
    save,
    search,
)
from tests.unit.runtime.test_library import ONE
from tests.unit.runtime.test_recovery import Post, crash

GUSTAV = Principal("globex", "gustav", PrincipalKind.HUMAN, frozenset({"eng", "auditor"}))


async def reviewed(gate: Gate, by: Principal = AUDITOR, **given: object) -> Review:
    found = await gate.catalogue.review(by=by, **given)  # type: ignore[arg-type]
    assert isinstance(found, Review), found
    return found


def named(found: Review, name: str) -> ToolReview:
    return next(each for each in found.tools if each.name == name)


@pytest.mark.requirement("REG-11")
async def test_every_proposal_of_a_gate_is_counted_once_by_how_it_ended(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ASKS) as gate:
        calls = [
            search("a"),
            search("b"),
            ToolCall("c", "search", "{"),
            ToolCall("c", "serch", {}),
            save("n1"),
            save("n2"),
        ]
        for call in calls:
            await gate.call(call, principal=ALICE, task="t")
        await gate.call(search(), principal=replace(ALICE, groups=frozenset()), task="t")
        approval = await granted(gate, save("n3"))
        for _ in range(2):  # once it runs, and once it is given again
            await gate.approvals.resume(approval, by=ALICE)
        await gate.approvals.decline(await asked(gate, save("n4")), by=BOB)
        found = await reviewed(gate)
        assert found.whole.counts.proposals == len(calls) + 1 + 1 + 1 + 1
        counts, saved = named(found, "search").numbers, named(found, "save").numbers.counts
        assert (counts.counts.started, counts.counts.succeeded, counts.arguments_refused) == (3, 3, 1)
        assert (saved.asked, saved.came_back, saved.granted, saved.declined, saved.effects) == (4, 1, 1, 1, 1)
        assert named(found, "save").numbers.effects == {"Note": 1}
        assert [(each.text, each.nearest) for each in found.coverage.invented] == [("serch", ("search",))]
        assert (found.unread, found.unplaced) == (0, 0)


@pytest.mark.requirement("REG-11")
async def test_a_review_takes_an_auditor_and_shows_the_calls_of_the_own_tenant_alone(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        await gate.call(search("mine"), principal=ALICE)
        await gate.call(search("theirs"), principal=GUSTAV)
        await gate.call(search("theirs"), principal=GUSTAV)
        denied = await gate.catalogue.review(by=ALICE)
        assert code(denied) == "PERMISSION_DENIED"
        foreign = await gate.catalogue.review(by=OPERATOR, tenant="globex")
        assert isinstance(foreign, Deny)
        assert (foreign.code, "no other tenant" in foreign.message) == ("PERMISSION_DENIED", True)
        mine, theirs = await reviewed(gate, tenant="acme"), await reviewed(gate, GUSTAV)
        assert (mine.whole.counts.started, theirs.whole.counts.started) == (1, 2)
        assert [each.name for each in theirs.tools] == ["save", "search"]
        (read,) = await records(gate, "tools.reviewed")
        assert (read["principal"], read["subject"]) == ("audrey", "tools")


@pytest.mark.requirement("REG-11")
async def test_how_a_lost_call_was_closed_is_counted_and_what_is_open_still_is_told() -> None:
    post = Post()
    post.knows = False
    async with opened(":memory:", post.tools) as gate:
        running = [await crash(gate, post, ToolCall("c", "send", {"to": "x"}))]
        post.started.clear()
        running.append(await crash(gate, post, ToolCall("c", "send", {"to": "y"})))
        await gate.recovery.recover()
        first = (await gate.recovery.unknown(by=OPERATOR))[0].operation.id
        post.open.set()
        for each in running:
            await each
        await gate.recovery.close(first, by=OPERATOR, happened=True, evidence="the receipt")
        sent = named(await reviewed(gate), "send")
        counts = sent.numbers.counts
        assert (counts.lost, counts.closed_by_person, counts.found_done, sent.open_unknown) == (2, 1, 1, 1)


@pytest.mark.requirement("REG-11")
async def test_an_effect_that_was_undone_counts_for_the_tool_that_did_it() -> None:
    @tool(effect="write", key=["item"], compensate="cancel")
    async def order(item: str) -> str:
        """Order something."""
        return item

    @tool(effect="write", key=["item"])
    async def cancel(item: str) -> str:
        """Cancel an order."""
        return item

    async with opened(":memory:", [order, cancel]) as gate:
        await gate.call(ToolCall("c", "order", {"item": "book"}), principal=ALICE, task="t")
        await gate.compensations.start(by=ALICE, reason="wrong", task="t")
        found = await reviewed(gate)
        assert named(found, "order").numbers.counts.compensated == 1
        assert named(found, "cancel").numbers.counts.compensated == 0


def versioned(version: str, *, wide: bool = False) -> AnyTool:
    if wide:

        @tool(effect="read", name="look", version=version)
        async def look(at: int, also: str) -> str:
            """Look at something."""
            return also

        return look

    @tool(effect="read", name="look", version=version)
    async def look_1(at: int) -> str:
        """Look at something."""
        return str(at)

    return look_1


@pytest.mark.requirement("REG-11")
async def test_versions_are_told_apart_with_what_they_broke_and_when_they_came(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, [versioned("1")]) as gate:
        await gate.call(ToolCall("c", "look", {"at": 1}), principal=ALICE)
    async with opened(path, [versioned("2", wide=True)]) as gate:
        found = named(await reviewed(gate), "look")
        assert [(each.version, each.verdict, each.numbers.counts.started) for each in found.versions] == [
            ("1", "", 1),
            ("2", "breaking", 0),
        ]
        assert (found.changes["breaking"], found.gaps) == (1, (Gap.OWNER, Gap.EXAMPLES))
        assert all(each.published_at_us for each in found.versions)
        later = named(await reviewed(gate, since_us=gate._world.clock.now_us()), "look")
        assert (later.numbers.counts.started, later.published_at_us) == (0, found.published_at_us)


@pytest.mark.requirement("REG-11")
async def test_runs_say_which_tool_was_mistaken_and_nothing_is_done_about_it() -> None:
    shelf = Shelf()

    @tool(effect="read", name="find")
    async def find(query: str, limit: int = 5) -> list[str]:
        """Search notes."""
        return [query][:limit]

    async with opened(":memory:", [*shelf.tools, find]) as gate:
        origin = Origin("http", "researcher", "model-1")
        for number in range(20):
            caller = Caller(ALICE, run=f"r{number}", origin=origin)
            await gate.propose(search("same"), caller)
            await gate.propose(ToolCall("c", "find", {"query": "same"}), caller)
        found = await reviewed(gate, rules=ReviewRules(alike_percent=60))
        assert named(found, "search").signs.exchanged == 20
        assert named(found, "search").numbers.counts.without_trace == 20
        kinds = {(each.kind, each.tool) for each in found.proposals}
        assert {(Kind.FIX_DESCRIPTION, "search"), (Kind.ADD_OWNER, "find"), (Kind.MERGE, "search")} <= kinds
        assert [each.instead for each in found.alike] == ["both"]
        assert {each.state for each in found.tools} == {Lifecycle.AVAILABLE}


@pytest.mark.requirement("REG-11")
async def test_a_long_log_is_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviewing, "PAGE", 7)
    async with opened(":memory:", Shelf().tools) as gate:
        for number in range(30):
            await gate.call(search(str(number)), principal=ALICE)
        store = gate._world.audit
        assert isinstance(store, MemoryStore)
        pages = [0]
        read = store.records

        async def counted(query: AuditQuery) -> tuple[AuditRecord, ...]:
            page = await read(query)
            pages.append(len(page))
            return page

        monkeypatch.setattr(store, "records", counted)
        found = await reviewed(gate)
        assert found.whole.counts.started == 30
        assert max(pages) <= 7


@pytest.mark.requirement("REG-11")
async def test_a_review_day_that_has_passed_and_examples_that_are_stale_are_gaps() -> None:
    grounds = Grounds(reason="for a while", review_on="2020-01-31")
    async with opened(":memory:", Shelf().tools) as gate:
        await gate.catalogue.move("search", Lifecycle.RESTRICTED, by=OPERATOR, reason=grounds)
        await gate.examples.publish([replace(ONE, expires="2020-01-31"), replace(ONE, name="two")], by=OPERATOR)
        found = await reviewed(gate)
        assert {Gap.STALE_EXAMPLES, Gap.REVIEW_PAST} <= set(named(found, "search").gaps)
        assert not {Gap.STALE_EXAMPLES, Gap.REVIEW_PAST} & set(named(found, "save").gaps)
        assert (Kind.ADD_EXAMPLES, "search") in {(each.kind, each.tool) for each in found.proposals}
