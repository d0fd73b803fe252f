"""Runs: a model works on a task; somebody watches, approves, pauses, hands over, cancels, and decides it all again."""

import asyncio

from interlock import (
    Agent,
    Approval,
    Check,
    Gate,
    Host,
    PolicySource,
    Principal,
    RunEvent,
    RunLimits,
    RunState,
    Settings,
    Wish,
    tool,
)
from interlock.testing.models import ScriptedModel

STOCK = {"bolts": 3}
ORDERED: list[str] = []
ALICE = Principal("acme", "alice", groups=frozenset({"buyers"}))
BOB = Principal("acme", "bob", groups=frozenset({"approver"}))


@tool(effect="read", owner="eng")
async def stock(item: str) -> int:
    """Say how many of an item there are."""
    return STOCK.get(item, 0)


@tool(effect="write", owner="eng", key=["item"])
async def order(item: str, count: int) -> str:
    """Order more of an item."""
    ORDERED.append(f"{count} {item}")
    return "ordered"


@tool(effect="read", owner="eng")
async def is_ordered(item: str) -> bool:
    """Say whether an item is on its way."""
    return any(line.endswith(item) for line in ORDERED)


POLICY = PolicySource(
    "buying",
    """
    @id("looks") permit (principal, action in Action::"read", resource);
    @id("orders") @approval("approver") permit (principal, action == Action::"order", resource);
    """,
)
NO_ORDERS = PolicySource("buying", '@id("looks") permit (principal, action in Action::"read", resource);')

# What stands for a model here says what is written down; `interlock.providers` has those of five providers.
BUYER = ScriptedModel(
    [("stock", {"item": "bolts"}), ("order", {"item": "bolts", "count": 100}), "A hundred bolts are ordered."],
    name="buyer",
)
PLANNER = ScriptedModel(
    [("hand_off", {"agent": "clerk", "message": "See how many nuts there are."}), "There are no nuts."],
    name="planner",
)


async def start_and_approve(gate: Gate) -> str:
    """Start a run, be told of what happens, and approve what it waits for."""
    run = await gate.runs.start(
        model="buyer",
        task="See to it that there are enough bolts.",
        principal=ALICE,
        task_id="restock-7",
        limits=RunLimits(rounds=10, calls=20, expires_s=24 * 3600),
        check=Check("is_ordered", '{"item": "bolts"}'),
    )
    seen: list[RunEvent] = []

    async def tell(event: RunEvent) -> None:
        seen.append(event)
        if event.state is RunState.WAITING_APPROVAL:
            for waiting in (await run.report()).waiting:
                assert isinstance(await gate.approvals.approve(waiting, by=BOB), Approval)

    last = await run.watch(tell)
    assert seen[-1].cursor == last
    assert [event async for event in run.events(after=last - 1)] == seen[-1:]  # resumed where it was left

    report = await run.result()
    assert (report.state, report.answer) == (RunState.COMPLETE, "A hundred bolts are ordered.")
    assert (report.success, ORDERED) == (True, ["100 bolts"])  # by the check, not by what the model says
    return run.id


async def decide_again(gate: Gate, run_id: str) -> None:
    """What would have been decided under other policies? Nothing is executed."""
    found = await gate.runs.replay(run_id, by=ALICE, policies=[NO_ORDERS])
    assert [(each.tool, each.then, each.now) for each in found if each.differs] == [
        ("order", "ask", "PERMISSION_DENIED"),
    ]


async def hand_off(gate: Gate) -> None:
    """Two agents, one run: the same principal, budgets and keys. Policy may say who hands what to whom."""
    planner = Agent("planner", "Plan, and let others do it.", hand_offs=("clerk",), tools=())
    clerk = Agent("clerk", "Look things up.", "looks things up in the store", tools=("stock",))
    run = await gate.runs.start(model="planner", task="Nuts?", principal=ALICE, agent=planner, agents=[clerk])
    report = await run.result()
    assert (report.agent, report.spent.hand_offs, report.answer) == ("clerk", 1, "There are no nuts.")


async def move(gate: Gate) -> None:
    """Pause, go on, say something, let a person take over, hand back, cancel."""
    limits = RunLimits(rounds=None, calls=None)
    run = await gate.runs.start(model="idler", task="Wait.", principal=ALICE, limits=limits)
    await run.wish(Wish.PAUSE, text="not before noon")
    await run.wish(Wish.RESUME)
    await run.say("Take your time.")
    await run.wish(Wish.HAND_OVER, text="let me look at it")
    await run.wish(Wish.HAND_BACK, text="The blue ones will do.")  # the model hears it
    await run.cancel(reason="no longer wanted")
    assert (await run.result()).state is RunState.CANCELLED


async def main() -> None:
    idler = ScriptedModel(lambda request: ("stock", {"item": "bolts"}), name="idler")
    host = Host(models=(BUYER, PLANNER, idler))
    settings = Settings(tenant="acme", hand_off_owner="eng", runs_every_s=0.05)
    tools = (stock, order, is_ordered)
    async with Gate.open(tools=tools, policies=[POLICY], settings=settings, host=host) as gate:
        run_id = await start_and_approve(gate)
        await decide_again(gate, run_id)
        await hand_off(gate)
        await move(gate)


asyncio.run(main())
