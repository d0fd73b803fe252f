"""The public surface as a user's program uses it, for the type checker alone: it is checked, never run."""

from dataclasses import dataclass
from typing import Annotated, assert_type

from interlock import (
    Against,
    Agent,
    Approval,
    Arg,
    Check,
    Code,
    Context,
    Gate,
    Host,
    Limit,
    Limits,
    Lineage,
    Model,
    Observation,
    PolicySource,
    Price,
    Principal,
    Redecided,
    Resource,
    Result,
    Run,
    RunEvent,
    RunLimits,
    RunReport,
    RunState,
    ScopeKind,
    Settings,
    Status,
    ToolCall,
    Unit,
    Wish,
    tool,
)
from interlock.core.audit_log import Verified
from interlock.core.chain import Break
from interlock.core.decision import Deny


@dataclass
class Draft:
    draft_id: str
    content: str


async def find_draft(draft_id: str) -> Draft | None:
    return None


def draft_now(draft_id: str) -> Resource:
    return Resource("Draft", draft_id, version="1")


@tool(effect="read", owner="eng")
async def search_documents(query: str, limit: Annotated[int, Arg(ge=1, le=50)] = 5) -> list[str]:
    """Search documents."""
    return [query][:limit]


@tool(effect="write", key=["draft_id"], resource=("Draft", "draft_id"), reconcile=find_draft, resolve=draft_now)
async def save_draft(draft_id: str, content: str, context: Context) -> Draft:
    """Save a draft."""
    return Draft(draft_id, content + context.key)


@tool(effect="read")
def count(words: list[str]) -> Result:
    """Count words."""
    return Result(len(words), cost_micros=1)


async def program(alice: Principal, bob: Principal) -> None:
    assert_type(await search_documents("x", limit=3), list[str])
    assert_type(count(["a"]), Result)
    settings = Settings(limits=Limits((Limit(ScopeKind.RUN, Unit.CALLS, 30),)))
    async with Gate.open(
        "interlock.db", tools=[search_documents, save_draft], policies="policies/", settings=settings, host=Host()
    ) as gate:
        call = ToolCall(id="c1", name="save_draft", arguments='{"draft_id":"r1","content":"..."}')
        seen = await gate.call(call, principal=alice, task="research-42")
        assert_type(seen, Observation)
        if seen.error is not None and seen.error.code is Code.APPROVAL_REQUIRED and seen.approval_id is not None:
            decided = await gate.approvals.approve(seen.approval_id, by=bob)
            assert_type(decided, Approval | Deny)
            assert_type(await gate.approvals.resume(seen.approval_id, by=bob), Observation)
            assert_type(await gate.approvals.reveal(seen.approval_id, by=bob), bytes | Deny)
        many = await gate.call_many([call, call], principal=alice, run="r1")
        assert_type(many, tuple[Observation, ...])
        assert_type(many[0].status, Status)
        assert_type(await gate.audit.verify(), Verified | Break)
        await gate.policies.save([PolicySource("own", "permit (principal, action, resource);")], by=bob)
        assert_type(gate.catalogue.get("save_draft").spec.version, str)


async def lists(model: Model) -> None:
    """What is kept as a tuple is given as a list too."""
    host = Host(models=[model], fact_names={"balance"})
    settings = Settings(
        egress_allow=["10.0.0.0/8"], secrets=["hunter2"], limits=Limits([Limit(ScopeKind.RUN, Unit.CALLS, 30)])
    )
    async with Gate.open(settings=settings, host=host):
        Agent("planner", tools=[], hand_offs=["writer"])


async def runs(gate: Gate, model: Model, alice: Principal) -> None:
    writer = Agent("writer", "Write.", description="writes", tools=("save_draft",))
    limits = RunLimits(rounds=10, cost_micros=5_000, calls_per_tool={"save_draft": 1})
    check = Check("search_documents", '{"query": "draft"}')
    run = await gate.runs.start(
        model=model, task="Write a draft.", principal=alice, agent=writer, limits=limits, check=check
    )
    assert_type(run, Run)
    async for event in run.events(after=3):
        assert_type(event, RunEvent)
        if event.state is RunState.WAITING_APPROVAL:
            break
    assert_type(await run.wish(Wish.PAUSE, text="lunch"), Deny | None)
    assert_type(await run.say("Be brief.", by=alice), Deny | None)
    assert_type(await run.result(timeout_s=5), RunReport)
    assert_type(await gate.runs.replay(run.id, by=alice, against=Against.TODAY), tuple[Redecided, ...])
    assert_type(await gate.runs.lineage(run.id, by=alice), Lineage)
    assert_type(model.price, Price | None)
