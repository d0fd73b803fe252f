"""Policies at the gate: checked before they are saved, in force at once, and explained; whatever is missing denies."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from interlock import Caller, Confidentiality, Gate, Host, Labels, PolicySource, Principal, Result, ToolCall, tool
from interlock.core.errors import PolicyInvalid
from interlock.core.policy import Explanation, Mode
from interlock.testing.fakes import FakeFacts
from tests.gates import (
    ALICE,
    ALL,
    ASKS,
    BOB,
    OPERATOR,
    READS,
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

SECRET = Labels(Confidentiality.CONFIDENTIAL)
NO_LEAK = f"""{ALL}
@id("no-leak") forbid (principal, action, resource)
when {{ context.tool.external && context.run.confidentiality >= 2 }};
"""
SCORED = '@id("scored") permit (principal, action, resource) when { context.facts.score < 5 };'


def source(text: str, **more: Any) -> list[PolicySource]:
    return [PolicySource("test", text, **more)]


@pytest.mark.requirement("POL-1")
@pytest.mark.parametrize(
    "policy", ['permit (principal == User::"bob", action, resource);', "forbid (principal, action, resource);"]
)
async def test_what_no_policy_permits_is_denied(policy: str) -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, policy) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
    assert shelf.searched == []


@pytest.mark.requirement("POL-1")
@pytest.mark.parametrize(
    "bad",
    [
        'permit (principal, action == Action::"save", resource) when { context.args.missing == "x" };',
        "permit (principal",
        '@aproval("x") permit (principal, action, resource);',
    ],
)
async def test_a_policy_that_does_not_fit_fails_when_it_is_saved_and_nothing_changes(bad: str, gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, READS) as gate:
        before = await gate.policies.sources()
        with pytest.raises(PolicyInvalid):
            await gate.policies.save(source(ALL + bad), by=OPERATOR)
        assert await gate.policies.sources() == before
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_NOT_FOUND"
        assert len(await records(gate, "policy.saved")) == 1


@pytest.mark.requirement("POL-1")
async def test_a_policy_that_fails_when_it_is_asked_denies() -> None:
    @tool(effect="read")
    async def add(number: int) -> int:
        """Add one."""
        return number + 1

    never = "{ context.args.number + 9223372036854775807 < 0 }"
    policy = f'{ALL} forbid (principal, action == Action::"add", resource) when {never};'
    async with opened(":memory:", [add], policy) as gate:
        assert code(await gate.call(ToolCall("c1", "add", {"number": 1}), principal=ALICE)) == "PERMISSION_DENIED"
        assert code(await gate.call(ToolCall("c1", "add", {"number": -1}), principal=ALICE)) == "ok"


@pytest.mark.requirement("POL-3", "POL-4")
async def test_forbid_beats_ask_beats_permit_and_the_record_says_which_decided(gate_path: str) -> None:
    shelf = Shelf()
    policy = (
        ALL
        + ASKS.replace('"reads"', '"r"')
        + '@id("never") forbid (principal, action == Action::"save", resource) when { context.args.note == "x" };'
    )
    async with opened(gate_path, shelf.tools, policy) as gate:
        ends = [code(await gate.call(call, principal=ALICE, task="t")) for call in (save("x"), save("y"), search())]
        assert ends == ["PERMISSION_DENIED", "APPROVAL_REQUIRED", "ok"]
        found = [each for each in await records(gate) if each["event"].startswith("call.") and "policies" in each]
        assert [each["answer"] for each in found] == ["deny", "ask", "allow"]
        assert found[0]["policies"] == ["test/never"]
        assert "test/asks" in found[1]["policies"]
        assert all(len(each["slice"]) == 64 for each in found)


@pytest.mark.requirement("POL-4")
async def test_a_decision_is_explained_without_anything_running_or_being_counted() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        told = await gate.policies.explain(save(), Caller(ALICE, task="t"))
        assert isinstance(told, Explanation)
        assert {each.policy: each.outcome.value for each in told.policies} == {"test/asks": "satisfied"}
        assert code(await gate.policies.explain(ToolCall("c", "nope", "{}"), Caller(ALICE))) == "TOOL_NOT_FOUND"
        assert await gate.usage("acme") == ()
    assert shelf.saved == []


@pytest.mark.requirement("POL-5")
async def test_a_listing_shows_what_may_be_called_and_hides_only_what_never_may() -> None:
    some = '@id("some") permit (principal, action == Action::"save", resource) when { context.args.note == "mine" };'
    async with opened(":memory:", Shelf().tools, some) as gate:
        assert [each.spec.name for each in gate.catalogue.visible(Caller(ALICE))] == ["save"]
        assert code(await gate.call(save("other"), principal=ALICE, task="t")) == "PERMISSION_DENIED"
        assert code(await gate.call(save("mine"), principal=ALICE, task="t")) == "ok"


def leaky(release: asyncio.Event, started: asyncio.Event, sent: list[str]) -> tuple[AnyTool, AnyTool]:
    @tool(effect="read", labels=SECRET)
    async def read() -> str:
        """Read what is confidential."""
        started.set()
        await release.wait()
        return "secret plan"

    @tool(effect="write", external=True, name="mail")
    async def mail(text: str) -> None:
        """Send a mail."""
        sent.append(text)

    return read, mail


@pytest.mark.requirement("POL-6")
async def test_after_a_confidential_read_nothing_leaves_in_that_run_even_while_it_is_in_flight(gate_path: str) -> None:
    release, started, sent = asyncio.Event(), asyncio.Event(), list[str]()
    async with opened(gate_path, leaky(release, started, sent), NO_LEAK) as gate:
        mail = ToolCall("c2", "mail", {"text": "x"})
        assert code(await gate.propose(mail, Caller(ALICE, run="r1", turn=1))) == "ok"
        reading = asyncio.create_task(gate.call(ToolCall("c1", "read", ""), principal=ALICE, run="r1"))
        await started.wait()
        assert code(await gate.propose(mail, Caller(ALICE, run="r1", turn=2))) == "PERMISSION_DENIED"
        release.set()
        assert code(await reading) == "ok"
        assert code(await gate.propose(mail, Caller(ALICE, run="r1", turn=3))) == "PERMISSION_DENIED"
        assert code(await gate.propose(mail, Caller(ALICE, run="r2", turn=3))) == "ok"
    assert sent == ["x", "x"]


@pytest.mark.requirement("POL-7")
async def test_a_policy_on_trial_is_recorded_and_changes_nothing() -> None:
    shelf = Shelf()
    trial = PolicySource("trial", '@id("stop") forbid (principal, action, resource);', mode=Mode.LOG_ONLY)
    async with opened(":memory:", shelf.tools, [*source(ALL), trial]) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        (record,) = await records(gate, "call.settled")
        assert record["answer"] == "allow"
        assert "trial/stop" in record["log_only"]


@pytest.mark.requirement("POL-7")
async def test_before_a_change_is_saved_it_says_which_tools_and_approvals_it_touches() -> None:
    async with opened(":memory:", Shelf().tools, ASKS) as gate:
        approval = await asked(gate)
        change = await gate.policies.check(source(ASKS.replace("1h", "2h")), tenant="acme")
        assert ([each.tool for each in change.tools], change.approvals) == (["save"], (approval,))
        same = await gate.policies.check(source(ASKS), tenant="acme")
        assert (same.tools, same.approvals) == ((), ())


async def states(gate: Gate, by: Principal = OPERATOR) -> list[str]:
    return [each.state.value for each in await gate.approvals.list(by=by)]


@pytest.mark.requirement("POL-7", "APR-2")
async def test_saving_voids_what_waits_or_was_given_under_rules_that_change_on_record(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ASKS) as gate:
        given, waits = await granted(gate), await asked(gate, save("n2"))
        await gate.policies.save(source(ASKS.replace('id("reads")', 'id("read")')), by=OPERATOR)
        assert await states(gate) == ["granted", "pending"]
        change = await gate.policies.save(source(ASKS.replace("1h", "2h")), by=OPERATOR)
        assert set(change.approvals) == {given, waits}
        assert await states(gate) == ["void", "void"]
        assert code(await gate.approvals.approve(waits, by=BOB)) == "APPROVAL_MISMATCH"
        assert code(await gate.approvals.resume(given, by=BOB)) == "APPROVAL_MISMATCH"
        voided = await records(gate, "approval.void")
        assert {(each["subject"], each["principal"], each["state"]) for each in voided} == {
            (given, "olga", "void"),
            (waits, "olga", "void"),
        }


@pytest.mark.requirement("POL-7")
async def test_shared_policies_void_the_approvals_of_every_tenant_that_they_decide_and_name_its_own() -> None:
    other, operator = replace(ALICE, tenant="globex"), replace(OPERATOR, tenant="globex")
    async with opened(":memory:", Shelf().tools, ASKS) as gate:
        await asked(gate, by=other)
        change = await gate.policies.save(source(ASKS.replace("1h", "2h")), by=OPERATOR)
        assert change.approvals == ()
        assert await states(gate, operator) == ["void"]
        own = source(ASKS.replace("1h", "3h"), tenant="acme")
        await asked(gate, by=other, task="t2")
        await gate.policies.save(own, by=OPERATOR)
        assert await states(gate, operator) == ["void", "pending"]


@pytest.mark.requirement("POL-7")
async def test_saving_the_policies_of_one_tenant_leaves_those_of_all_others() -> None:
    own = source('@id("stop") forbid (principal, action == Action::"search", resource);', tenant="acme")
    async with opened(":memory:", Shelf().tools) as gate:
        change = await gate.policies.save(own, by=OPERATOR)
        assert {(each.tool, each.tenant) for each in change.tools} == {("search", "acme")}
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"
        assert code(await gate.call(search(), principal=replace(ALICE, tenant="globex"))) == "ok"


@pytest.mark.requirement("POL-8")
async def test_a_fact_that_does_not_arrive_denies_and_one_that_arrives_decides() -> None:
    shelf, facts = Shelf(), FakeFacts({"score": 3})
    host = Host(facts=facts, fact_names=frozenset({"score"}))
    async with opened(":memory:", shelf.tools, SCORED, host=host, facts_timeout_ms=20) as gate:
        ends = [code(await gate.call(search(), principal=ALICE))]
        for values, late in (({"score": 7}, None), ({}, None), ({"score": "3"}, None), ({"score": 3}, asyncio.Event())):
            facts.values, facts.late = dict(values), late
            ends.append(code(await gate.call(search(), principal=ALICE)))
        assert ends == ["ok", *["PERMISSION_DENIED"] * 4]
    assert len(shelf.searched) == 1


@pytest.mark.requirement("POL-6", "IDEM-2")
async def test_where_a_result_came_from_joins_the_run_also_when_it_is_replayed(gate_path: str) -> None:
    sent: list[str] = []

    @tool(effect="idempotent_write", key=["page"])
    async def archive(page: str) -> Result:
        """Archive a page."""
        return Result(page, labels=Labels(origins=frozenset({page})))

    @tool(effect="write")
    async def mail() -> None:
        """Send a mail."""
        sent.append("mail")

    never = 'forbid (principal, action == Action::"mail", resource) when { context.run.origins.contains("web") };'
    async with opened(gate_path, [archive, mail], ALL + never) as gate:
        for run in ("r1", "r2"):
            archived = await gate.call(ToolCall("c1", "archive", {"page": "web"}), principal=ALICE, run=run, key="k")
            assert (code(archived), archived.replayed) == ("ok", run == "r2")
            assert code(await gate.call(ToolCall("c2", "mail", ""), principal=ALICE, run=run)) == "PERMISSION_DENIED"
        assert code(await gate.call(ToolCall("c2", "mail", ""), principal=ALICE, run="r3")) == "ok"
    assert sent == ["mail"]


@pytest.mark.requirement("POL-6")
async def test_a_decision_that_was_made_before_a_confidential_read_began_is_made_anew(gate_path: str) -> None:
    release, started, sent = asyncio.Event(), asyncio.Event(), list[str]()
    facts = FakeFacts({"score": 1}, late=asyncio.Event())
    policy = NO_LEAK + 'forbid (principal, action == Action::"mail", resource) when { context.facts.score > 5 };'
    host = Host(facts=facts, fact_names=frozenset({"score"}))
    async with opened(gate_path, leaky(release, started, sent), policy, host=host) as gate:
        mail = ToolCall("c2", "mail", {"text": "x"})
        sending = asyncio.create_task(gate.call(mail, principal=ALICE, run="r1"))
        await asyncio.wait([sending], timeout=0)
        reading = asyncio.create_task(gate.call(ToolCall("c1", "read", ""), principal=ALICE, run="r1"))
        await started.wait()
        assert facts.late is not None
        facts.late.set()
        assert code(await sending) == "PERMISSION_DENIED"
        release.set()
        await reading
    assert sent == []
