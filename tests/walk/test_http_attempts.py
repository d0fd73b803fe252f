"""What is sent and what is said, for each way that a server fails and each class of effect: a golden table."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack

import pytest

from interlock import Host, ToolCall
from interlock.core.http_template import HttpError
from interlock.core.observation import Observation
from interlock.core.tool import RetryRule
from interlock.declare.http import HttpTool, http_tool
from interlock.declare.http_request import HttpParameter
from tests import http_upstream as server
from tests.gates import ALICE, ALL, opened
from tests.golden import check_golden
from tests.http_upstream import Behaviour, Names, status, upstream

EFFECTS = ("read", "idempotent_write", "write", "destructive")

BEHAVIOURS: Mapping[str, Behaviour] = {
    "does it": server.ok,
    "resets before it read": server.reset_at_once,
    "resets before it did it": server.reset_before_commit,
    "resets after it did it": server.reset_after_commit,
    "resets within the answer": server.reset_in_the_answer,
    "resets once, then does it": server.in_turn(server.reset_after_commit, server.ok),
    "answers too little": server.wrong_length,
    "never answers": server.silence,
    "answers a header at a time": server.slow_head,
    "answers a byte at a time": server.slow_body,
    "answers no HTTP": server.garbage,
    "answers with endless headers": server.endless_head,
    "answers 20 MB": server.twenty_megabytes_of_bytes,
    "answers a gzip bomb": server.bomb,
    "answers broken JSON": status(200, commits=True, body=b"{", content_type="application/json"),
    "500 after it did it": status(500, commits=True),
    "502": status(502),
    "503, then does it": server.in_turn(status(503), server.ok),
    "504 after it did it": status(504, commits=True),
    "429 without a wait": status(429),
    "429, wait 0 s, then does it": server.in_turn(status(429, retry_after="0"), server.ok),
    "429, wait a minute": status(429, retry_after="60"),
    "429, wait until a date": status(429, retry_after="Wed, 21 Oct 2099 07:28:00 GMT"),
    "429, wait until a date that is over": status(429, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
    "429, wait garbage": status(429, retry_after="soon, perhaps"),
    "429, wait -5 s": status(429, retry_after="-5"),
    "429, wait for ever": status(429, retry_after="9" * 40),
    "429, wait past the end of time": status(429, retry_after="Fri, 31 Dec 99999 23:59:59 GMT"),
    "400": status(400),
    "401": status(401),
    "403": status(403),
    "404": status(404),
    "409, declared: nothing happened": status(409),
    "410, declared: it is known": status(410),
    "423, declared: passes, nothing happened": status(423),
    "302 to a metadata service": status(302, location="http://169.254.169.254/latest/meta-data"),
    "302 in a circle": status(302, location="/v1/things/7"),
    "302 to a file": status(302, location="file:///etc/passwd"),
    "307 to itself": status(307, location="/v1/things/7"),
}


SLOW = ("never answers", "answers a header at a time", "answers a byte at a time")
"""Behaviours that only a deadline ends."""
SLOW_MS = 700

API = "http://api.example.com"
UNREACHED: Mapping[str, tuple[str, Names]] = {
    "there is no server": (API, Names(["127.0.0.1"])),
    "there is no such name": (API, Names([])),
    "the name leads into a private network": (API, Names(["10.0.0.1"])),
    "one address of many is a metadata service": (API, Names(["93.184.216.34", "169.254.169.254"])),
}


def tool_of(name: str, origin: str, effect: str, *, timeout_ms: int = 10_000) -> HttpTool:
    return http_tool(
        name=name,
        description="Act on a thing.",
        effect=effect,
        method="GET" if effect == "read" else "POST",
        url=f"{origin}/v1/things/{{thing}}",
        parameters=[HttpParameter("thing", "path")],
        errors=[
            HttpError(409, "TAKEN", nothing_happened=True),
            HttpError(410, "GONE"),
            HttpError(423, "LOCKED", retryable=True, nothing_happened=True),
        ],
        key=["thing"],
        timeout_ms=timeout_ms,
        retry=RetryRule(3, backoff_ms=1, backoff_max_ms=2),
        output_bytes_max=65_536,
    )


async def called(tools: Sequence[HttpTool], host: Host | None = None) -> list[Observation]:
    """Each of the tools, at the same time; first those whose time is not what is tested."""
    async with opened(":memory:", tools, ALL, host=host, egress_allow=["127.0.0.1"], deadline_ms=30_000) as gate:
        seen: dict[str, Observation] = {}
        for slow in (False, True):
            names = [each.name for each in tools if (each.spec().timeout_ms == SLOW_MS) is slow]
            calls = [gate.call(ToolCall(name, name, {"thing": "7"}), principal=ALICE, task="t") for name in names]
            seen |= dict(zip(names, await asyncio.gather(*calls), strict=True))
        return [seen[each.name] for each in tools]


def row(effect: str, seen: Observation, *, sent: int, done: int) -> str:
    code = "" if seen.error is None else seen.error.code.value
    wait = "" if seen.retry_after_s is None or seen.retry_after_s < 1 else f", after {seen.retry_after_s:.0f} s"
    again = f"may be proposed again{wait}" if seen.retryable else ""
    return f"  {effect:<18}sent {sent}  done {done}  {seen.status.value:<9}{code:<18}{again}".rstrip()


@pytest.mark.requirement("EXEC-2", "EXEC-6", "IDEM-3")
async def test_what_is_sent_and_said_is_as_the_golden_table_says() -> None:
    cases = [(name, effect) for name in BEHAVIOURS for effect in EFFECTS]
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(upstream(BEHAVIOURS[name])) for name, _ in cases]
        tools = [
            tool_of(f"act-{number}", found.origin, effect, timeout_ms=SLOW_MS if name in SLOW else 10_000)
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
    check_golden("http_attempts.txt", "\n".join([*lines[1:], *[line async for line in _unreached()]]) + "\n")


async def _unreached() -> AsyncIterator[str]:
    """What never gets as far as a request: in every class of effect it is known that nothing happened."""
    async with upstream(server.ok) as closed:
        port = closed.port
    for name, (origin, names) in UNREACHED.items():
        tools = [tool_of(effect, f"{origin}:{port}", effect) for effect in EFFECTS]
        for each in await called(tools, Host(resolver=names)):
            if each.tool == EFFECTS[0]:
                yield f"\n{name}"
            yield row(each.tool, each, sent=0, done=0)
