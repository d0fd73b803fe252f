"""Who sees what: every desk that shows what somebody did shows it to the same people, and to all others nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Annotated

import pytest

from interlock import Arg, AuditQuery, Gate, Limit, Limits, Principal, ScopeKind, ToolCall, Unit, tool
from interlock.core.agents import AgentTools, ToolUse
from interlock.core.decision import Deny
from interlock.core.errors import ActRefused
from interlock.core.stops import StopScope
from interlock.loop.desk import RunUnknown
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, ALL, AUDITOR, BOT, OPERATOR, AnyTool, code, records
from tests.runs import opened, start

POLICY = """
@id("eng") permit (principal in Group::"eng", action, resource) unless { action == Action::"save" };
@id("asks") @approval("approver") permit (principal in Group::"eng", action == Action::"save", resource);
"""
ENG = 'permit (principal in Group::"eng", action, resource);'
STRANGER = Principal("acme", "eve")
ABROAD = replace(OPERATOR, id="greta", tenant="globex")
NAMESAKE = replace(ALICE, tenant="globex")
WHO = {"asker": ALICE, "operator": OPERATOR, "auditor": AUDITOR}
OTHERS = {"stranger": STRANGER, "operator of another tenant": ABROAD, "asker's name elsewhere": NAMESAKE}
CARD = "4929-0000-1111-2222"
ALL_OF_THEM, LOG, ASKER = frozenset(WHO), frozenset({"operator", "auditor"}), frozenset({"asker"})

BY_TENANT = frozenset("catalogue.review shadows.report audit.query audit.export".split())
"""What an operator of another tenant is shown of their own."""

Look = Callable[[Gate, Principal], Awaitable[object]]


def tools() -> tuple[AnyTool, ...]:
    @tool(effect="write", owner="eng", key=["to"])
    async def pay(to: str, card: Annotated[str, Arg(sensitive=True)]) -> str:
        """Pay somebody, and never hear of it."""
        raise ConnectionResetError

    @tool(effect="write", owner="eng", key=["note"])
    async def save(note: str) -> str:
        """Save a note, once somebody agrees."""
        return note

    @tool(effect="write", owner="eng", key=["order_id"])
    async def cancel(order_id: str) -> str:
        """Cancel an order."""
        return order_id

    @tool(effect="write", owner="eng", key=["item"], compensate="cancel", compensate_arguments={"order_id": "$result"})
    async def order(item: str) -> str:
        """Order something."""
        return item

    @tool(effect="read", owner="eng", output_bytes_max=100)
    async def long() -> str:
        """Say much."""
        return "x" * 1_000

    return pay, save, cancel, order, long


@pytest.fixture
async def gate() -> AsyncIterator[Gate]:
    """A tenant in which Alice, and nobody else, has done something of every kind."""
    async with opened(":memory:", ScriptedModel(["done"]), tools(), POLICY, closing_people=2) as gate:
        lost = await gate.call(ToolCall("c1", "pay", {"to": "bob", "card": CARD}), principal=ALICE, task="t")
        assert code(lost) == "OUTCOME_UNKNOWN"
        said = await gate.recovery.close(
            str(lost.operation_id), by=OPERATOR, happened=True, evidence="his bank says so"
        )
        assert code(said) == "APPROVAL_REQUIRED"
        await gate.call(ToolCall("c2", "save", {"note": "n"}), principal=ALICE, task="t")
        await gate.call(ToolCall("c3", "order", {"item": "chair"}), principal=ALICE, task="undone")
        await gate.call(ToolCall("c4", "order", {"item": "lamp"}), principal=ALICE, task="kept")
        await gate.compensations.start(by=ALICE, task="undone", reason="the wrong flat")
        await (await start(gate, run_id="r")).result()
        clerk = AgentTools("clerk", "acme", tools=(ToolUse("pay", "1"),))
        await gate.agents.save(clerk, by=OPERATOR, reason="needed")
        await gate.catalogue.stop(StopScope(tenant="acme", tool="cancel"), by=OPERATOR, reason="it cancels twice")
        yield gate


async def _shadow(gate: Gate, by: Principal) -> object:
    return await gate.shadows.report("clerk", "pay", version="2", by=by)


async def _run(gate: Gate, by: Principal) -> object:
    return await (await gate.runs.get("r", by=by)).report()


async def _replay(gate: Gate, by: Principal) -> object:
    return (await gate.runs.replay("r", by=by), "there is a replay, if of no calls")


async def _probes(gate: Gate, by: Principal) -> object:
    return (await gate.probes.history("pay", "p", by=by), "it was answered")


async def _examples(gate: Gate, by: Principal) -> object:
    return (await gate.examples.examples(by=by), "it was answered")


async def _agent(gate: Gate, by: Principal) -> object:
    return [each.tools for each in await gate.agents.list(by=by) if each.tools]


async def _result(gate: Gate, by: Principal) -> object:
    seen = await gate.call(ToolCall("c9", "long", {}), principal=ALICE)
    return await gate.results.read(str(seen.handle), by=by)


SEEN: dict[str, tuple[Look, frozenset[str]]] = {
    "recovery.unknown": (lambda gate, by: gate.recovery.unknown(by=by), ALL_OF_THEM),
    "recovery.proposed": (lambda gate, by: gate.recovery.proposed(by=by), ALL_OF_THEM),
    "usage": (lambda gate, by: gate.usage("acme", by=by), LOG),
    "approvals.list": (lambda gate, by: gate.approvals.list(by=by), ALL_OF_THEM),
    "compensations.list": (lambda gate, by: gate.compensations.list(by=by), ALL_OF_THEM),
    "compensations.outline": (
        lambda gate, by: gate.compensations.outline(by=by, task="kept"),
        frozenset({"asker", "operator"}),
    ),
    "runs.list": (lambda gate, by: gate.runs.list(by=by), ALL_OF_THEM),
    "runs.get": (_run, ALL_OF_THEM),
    "runs.head": (lambda gate, by: gate.runs.head("r", by=by), ALL_OF_THEM),
    "runs.lineage": (lambda gate, by: gate.runs.lineage("r", by=by), ALL_OF_THEM),
    "runs.replay": (_replay, ALL_OF_THEM),
    "agents": (_agent, ALL_OF_THEM),
    "results.read": (_result, ASKER),
    "catalogue.stops": (lambda gate, by: gate.catalogue.stops(by=by), LOG),
    "catalogue.review": (lambda gate, by: gate.catalogue.review(by=by), LOG),
    "shadows.report": (_shadow, LOG),
    "probes.history": (_probes, LOG),
    "examples.examples": (_examples, LOG),
    "examples.example_of": (lambda gate, by: gate.examples.example_of("c1", by=by), LOG),
    "audit.query": (lambda gate, by: gate.audit.query(AuditQuery(), by=by), LOG),
    "audit.export": (lambda gate, by: gate.audit.export(by=by), LOG),
}


async def sees(look: Look, gate: Gate, by: Principal) -> bool:
    """Whether somebody is shown anything at all."""
    try:
        found = await look(gate, by)
    except (ActRefused, RunUnknown):
        return False
    return not isinstance(found, Deny) and bool(found)


@pytest.mark.requirement("AUD-4")
async def test_what_somebody_did_is_seen_by_whom_it_concerns_and_by_who_reads_the_log(gate: Gate) -> None:
    seen = {
        name: ({who for who, by in WHO.items() if await sees(look, gate, by)}, [
            who for who, by in OTHERS.items() if name not in BY_TENANT and await sees(look, gate, by)
        ])
        for name, (look, _) in SEEN.items()
    }  # fmt: skip
    assert seen == {name: (set(who), []) for name, (_, who) in SEEN.items()}


@pytest.mark.requirement("AUD-4")
async def test_an_operator_reads_the_log_of_their_own_tenant_alone(gate: Gate) -> None:
    for name in BY_TENANT:
        look, _ = SEEN[name]
        assert not await sees(look, gate, STRANGER)
        assert not await sees(look, gate, NAMESAKE)
        assert "alice" not in str(await look(gate, ABROAD))


@pytest.mark.requirement("AUD-4")
async def test_of_an_unknown_call_nobody_is_shown_what_is_sealed_or_a_secret(gate: Gate) -> None:
    for by in WHO.values():
        (found,) = await gate.recovery.unknown(by=by)
        assert (found.operation.sealed, found.arguments) == (b"", b'{"card":"[redacted]","to":"bob"}')
        assert CARD not in str(found)


@pytest.mark.requirement("AUD-4")
async def test_an_unknown_call_is_seen_by_the_agent_that_made_it_and_by_whom_it_acted_for() -> None:
    other = replace(BOT, id="bot2")
    async with opened(":memory:", ScriptedModel([]), tools(), POLICY) as gate:
        await gate.call(ToolCall("c1", "pay", {"to": "bob", "card": CARD}), principal=BOT, task="t")
        seeing = {by.id for by in (BOT, ALICE, other, STRANGER) if await gate.recovery.unknown(by=by)}
        assert seeing == {"bot", "alice"}


@pytest.mark.requirement("IDEM-3")
async def test_an_unknown_call_is_looked_up_and_closed_by_operators_of_its_tenant_alone(gate: Gate) -> None:
    (found,) = await gate.recovery.unknown(by=OPERATOR)
    said = {"happened": True, "evidence": "I say so"}
    for by in (STRANGER, ALICE, AUDITOR, NAMESAKE):
        assert code(await gate.recovery.look_up(found.operation.id, by=by)) == "PERMISSION_DENIED"
        assert code(await gate.recovery.close(found.operation.id, by=by, **said)) == "PERMISSION_DENIED"
    assert code(await gate.recovery.look_up(found.operation.id, by=ABROAD)) == "PRECONDITION_FAILED"
    assert code(await gate.recovery.close(found.operation.id, by=ABROAD, **said)) == "PRECONDITION_FAILED"
    assert len(await records(gate, "call.closed")) == 0


@pytest.mark.requirement("IDEM-3", "AUD-4")
async def test_what_a_look_up_finds_is_shown_to_an_operator_as_policy_shows_them_the_same_call() -> None:
    @tool(effect="write", owner="eng", key=["to"], reconcile=lambda to: f"the secret of {to}")
    async def send(to: str) -> str:
        """Send something, and never hear of it."""
        raise ConnectionResetError

    for policy, is_shown in ((ENG, False), (ALL, True)):
        async with opened(":memory:", ScriptedModel([]), [send], policy) as gate:
            lost = await gate.call(ToolCall("c1", "send", {"to": "bob"}), principal=ALICE, task="t")
            found = await gate.recovery.look_up(str(lost.operation_id), by=OPERATOR)
            assert (code(found), "the secret of" in str(found)) == ("ok", is_shown)
            again = await gate.call(ToolCall("c1", "send", {"to": "bob"}), principal=ALICE, task="t")
            assert again.data == "the secret of bob"


async def test_what_was_spent_is_told_to_everybody_of_themselves_and_to_the_log_readers_of_all() -> None:
    limits = Limits((Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 10), Limit(ScopeKind.TOOL, Unit.CALLS, 10, shared=True)))
    async with opened(":memory:", ScriptedModel([]), tools(), POLICY, limits=limits.limits) as gate:
        await gate.call(ToolCall("c1", "long", {}), principal=ALICE, task="t")
        await gate.call(ToolCall("c1", "long", {}), principal=STRANGER, task="t")
        everything = await gate.usage("acme")
        for by in (OPERATOR, AUDITOR):
            assert await gate.usage("acme", by=by) == everything
        for by in (ALICE, STRANGER):
            assert [(scope.kind, scope.id) for scope, _ in await gate.usage("acme", by=by)] == [("principal", by.id)]
        shared = {by.id for by in (ALICE, STRANGER, AUDITOR, ABROAD, OPERATOR) if await gate.usage("*", by=by)}
        assert shared == {"olga"}
