"""What is sent and what is said, for each way that a gRPC server fails and each class of effect: a golden table."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from interlock import ErrorContract, GrpcTool, Host, ToolCall, grpc_tool
from interlock.core.grpc_call import STATUSES
from interlock.core.observation import Observation
from interlock.core.tool import RetryRule
from tests import grpc_upstream as server
from tests.gates import ALICE, ALL, opened
from tests.golden import check_golden
from tests.grpc_upstream import ACT, DESCRIPTOR, Behaviour, status, upstream, waiting
from tests.http_upstream import Names

EFFECTS = ("read", "idempotent_write", "write", "destructive")
DECLARED = {
    "ALREADY_EXISTS": ErrorContract("TAKEN", nothing_happened=True),
    "DATA_LOSS": ErrorContract("GONE"),
    "ABORTED": ErrorContract("LOCKED", retryable=True, nothing_happened=True),
}

BEHAVIOURS: Mapping[str, Behaviour] = {
    "does it": server.ok,
    "resets before a call can be made": server.reset_at_once,
    "resets before it did it": server.reset_before_commit,
    "resets after it did it": server.reset_after_commit,
    "resets once, then does it": server.in_turn(server.reset_after_commit, server.ok),
    "never answers": server.silence,
    "answers 5 MB": server.too_large,
    "answers no such message": server.garbage,
    "breaks down after it did it": server.crash,
    **{name: status(name) for name in STATUSES[1:] if name not in DECLARED},
    "INTERNAL after it did it": status("INTERNAL", commits=True),
    "UNAVAILABLE after it did it": status("UNAVAILABLE", commits=True),
    "UNAVAILABLE, then does it": server.in_turn(status("UNAVAILABLE"), server.ok),
    "RESOURCE_EXHAUSTED, wait 0 s, then does it": server.in_turn(
        status("RESOURCE_EXHAUSTED", trailing=waiting(0)), server.ok
    ),
    "RESOURCE_EXHAUSTED, wait a minute": status("RESOURCE_EXHAUSTED", trailing=waiting(60)),
    "UNAVAILABLE, pushed back by a minute": status("UNAVAILABLE", trailing=[("grpc-retry-pushback-ms", "60000")]),
    "UNAVAILABLE, wait garbage": status("UNAVAILABLE", trailing=[("grpc-status-details-bin", b"\xff")]),
    "ALREADY_EXISTS, declared: nothing happened": status("ALREADY_EXISTS"),
    "DATA_LOSS, declared: it is known": status("DATA_LOSS"),
    "ABORTED, declared: passes, nothing happened": status("ABORTED"),
}

SLOW = "never answers"
SLOW_MS = 500

UNREACHED: Mapping[str, Names] = {
    "there is no server": Names(["127.0.0.1"]),
    "there is no such name": Names([]),
    "the name leads into a private network": Names(["10.0.0.1"]),
    "one address of many is a metadata service": Names(["93.184.216.34", "169.254.169.254"]),
}


def tool_of(name: str, target: str, effect: str, *, timeout_ms: int = 10_000) -> GrpcTool:
    return grpc_tool(
        name=name,
        description="Act on a thing.",
        effect=effect,
        target=target,
        plaintext=True,
        method=ACT,
        descriptor=DESCRIPTOR,
        errors=DECLARED,
        key=["thingId"],
        timeout_ms=timeout_ms,
        retry=RetryRule(3, backoff_ms=1, backoff_max_ms=2),
        output_bytes_max=65_536,
    )


async def called(tools: Sequence[GrpcTool], host: Host | None = None) -> list[Observation]:
    """Each of the tools, at the same time; first those whose time is not what is tested."""
    async with opened(":memory:", tools, ALL, host=host, egress_allow=["127.0.0.1"], deadline_ms=30_000) as gate:
        seen: dict[str, Observation] = {}
        for slow in (False, True):
            names = [each.name for each in tools if (each.spec().timeout_ms == SLOW_MS) is slow]
            calls = [gate.call(ToolCall(name, name, {"thingId": "7"}), principal=ALICE, task="t") for name in names]
            seen |= dict(zip(names, await asyncio.gather(*calls), strict=True))
        return [seen[each.name] for each in tools]


def row(effect: str, seen: Observation, *, sent: int, done: int) -> str:
    code = "" if seen.error is None else seen.error.code.value
    wait = "" if seen.retry_after_s is None or seen.retry_after_s < 1 else f", after {seen.retry_after_s:.0f} s"
    again = f"may be proposed again{wait}" if seen.retryable else ""
    return f"  {effect:<18}sent {sent}  done {done}  {seen.status.value:<9}{code:<18}{again}".rstrip()


@pytest.mark.requirement("EXEC-2", "TOOL-6", "IDEM-3")
async def test_what_is_sent_and_said_is_as_the_golden_table_says() -> None:
    cases = [(name, effect) for name in BEHAVIOURS for effect in EFFECTS]
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(upstream(BEHAVIOURS[name])) for name, _ in cases]
        tools = [
            tool_of(f"act-{number}", found.target, effect, timeout_ms=SLOW_MS if name == SLOW else 10_000)
            for number, (found, (name, effect)) in enumerate(zip(servers, cases, strict=True))
        ]
        seen = await called(tools)
    lines: list[str] = []
    for (name, effect), found, each in zip(cases, servers, seen, strict=True):
        sent, done = len(found.received), sum(found.done.values())
        assert effect not in ("write", "destructive") or sent <= 1
        heading = f"the server {name}" if name[0].islower() else f"the server answers {name}"
        lines += ["", heading] if effect == EFFECTS[0] else []
        lines.append(row(effect, each, sent=sent, done=done))
    check_golden("grpc_attempts.txt", "\n".join([*lines[1:], *[line async for line in _unreached()]]) + "\n")


async def _unreached() -> AsyncIterator[str]:
    """What never gets as far as a call: in every class of effect it is known that nothing happened."""
    async with upstream(server.ok) as closed:
        port = closed.port
    for name, names in UNREACHED.items():
        tools = [tool_of(effect, f"dns:///{effect}.example.com:{port}", effect) for effect in EFFECTS]
        for each in await called(tools, Host(resolver=names)):
            if each.tool == EFFECTS[0]:
                yield f"\n{name}"
            yield row(each.tool, each, sent=0, done=0)
