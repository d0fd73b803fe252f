"""Runs MCP tools: calls the declared tool of the declared server in a session, and reads what it says of it.

Until the call itself is written nothing has happened, whatever became of the session, and an attempt that ends there
says so. After it, an effect whose answer is lost is not known to have happened or not, and never sent again but where
its class allows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

from mcp.shared.inbound import mcp_param_headers

from interlock.core.canonical import Json
from interlock.core.drift import Drift, Grade
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.http_build import Unbuildable
from interlock.core.http_trace import traceparent
from interlock.core.mcp_answer import HEADER_MISMATCH, INVALID_PARAMS, Refused, Said, found_of, outcome_of
from interlock.core.mcp_call import KIND, HttpServer, McpCode
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec, spec_digest
from interlock.ports import Attempt, Invocation
from interlock.runners.exchange import NoAnswer, Progress, heard, not_built, not_loaded
from interlock.runners.mcp_exchange import McpExchange
from interlock.runners.mcp_listing import repeated, unheard
from interlock.runners.mcp_pins import BELIEVED_S, Pins
from interlock.runners.mcp_pool import Sessions
from interlock.runners.mcp_session import Illegible, Session
from interlock.runners.mcp_stdio import NotStarted
from interlock.runners.mcp_ways import Waits, Ways, mark_of
from interlock.runners.onlooker import Telling

Answered: TypeAlias = "Said | Refused | Illegible | Unbuildable | Drift"
"""What came of asking: an answer, or why there was nothing to ask."""

_ILLEGIBLE = Failed(
    Code.OUTPUT_INVALID, "It was executed, but its result cannot be shown: it is no result of the protocol."
)


@frozen
class _Bound:
    """What one tool is run by, and what tells its server from others."""

    code: McpCode
    server: str


@frozen
class _Asked:
    """One call of a tool: under which name, with what, and what goes with it."""

    tool: str
    arguments: Mapping[str, Json]
    meta: Mapping[str, Json]
    is_read: bool
    is_look_up: bool = False


LIST_S = 300.0
"""How long the list of a server is believed that promises to say when it changes."""


class McpRunner:
    """Calls the tools that are bound to it, by the digest of the spec that they were declared for."""

    def __init__(
        self, *, ways: Ways, telling: Telling, sessions: Sessions | None = None, list_s: float = LIST_S
    ) -> None:
        self._ways = ways
        self._list_s = list_s
        self._telling = telling
        self._sessions = sessions or Sessions()
        self._bound: dict[str, _Bound] = {}
        self._pins: WeakKeyDictionary[Session, Pins] = WeakKeyDictionary()

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Bind a tool's calls to its spec. Raises `SpecInvalid` where they are another tool's."""
        if not isinstance(code, McpCode) or code.fingerprint != spec.handler.fingerprint:
            raise SpecInvalid(f"{spec.name}: a tool of the kind {KIND} is run by the calls that it declares")
        self._bound[spec_digest(spec)] = _Bound(code, mark_of(code.server))

    async def close(self) -> None:
        """End every session, every server that was started, and every connection."""
        await self._sessions.close()
        await self._ways.close()

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt."""
        spec = invocation.operation.spec
        bound = self._bound.get(invocation.operation.tool.digest)
        if bound is None:
            return Attempt(not_loaded(spec, what="calls"))
        code = bound.code
        asked = _Asked(code.tool, invocation.operation.values, _meta(invocation, code), not spec.effect.is_effect)
        progress = Progress()
        asking = self._ask(asked, invocation, bound=bound, progress=progress)
        found: Answered | Failed = await heard(asking, invocation, progress=progress)
        if isinstance(found, Failed):
            return Attempt(found)
        if isinstance(found, Drift):
            return Attempt(_drifted(found, spec))
        if isinstance(found, Unbuildable):
            return Attempt(not_built(found, spec))
        return Attempt(_ILLEGIBLE if isinstance(found, Illegible) else outcome_of(found, spec=spec, code=code))

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """None: what must hold is the server's to say, in its answer."""
        return None

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """Whether it happened, as the declared look-up says; None where its answer proves neither."""
        bound = self._bound.get(invocation.operation.tool.digest)
        look_up = None if bound is None else bound.code.look_up
        if bound is None or look_up is None:
            return None
        values = invocation.operation.values
        filled = {name: values.get(each) if each else invocation.key for name, each in look_up.arguments.items()}
        arguments = {name: value for name, value in filled.items() if value is not None}
        asked = _Asked(look_up.tool, arguments, {"traceparent": _trace(invocation)}, is_read=True, is_look_up=True)
        found = await self._ask(asked, invocation, bound=bound, progress=Progress())
        spec = invocation.operation.spec
        if not isinstance(found, Said | Refused):
            return None
        return found_of(found, spec=spec, look_up=look_up, code=bound.code)

    async def resolve(self, operation: Operation) -> Resource | None:
        """None: an MCP tool has no resolver."""
        return None

    async def _ask(
        self, asked: _Asked, invocation: Invocation, *, bound: _Bound, progress: Progress
    ) -> Answered | NoAnswer:
        """One call, in the session that there is; a read that finds this one ended by its server gets a new one."""
        code = bound.code
        waits = Waits(code.start_timeout_ms / 1_000, code.message_bytes_max)
        opening = self._ways.opening(code.server, invocation.secrets, waits=waits)
        if isinstance(opening, Unbuildable):
            return opening
        mirrored = mcp_param_headers(dict(code.mirrored), asked.arguments) if asked.tool == code.tool else {}
        given = tuple((name, invocation.secrets[name]) for name in code.server.secrets)
        key = (invocation.operation.caller.principal.tenant, bound.server, waits, given)
        told = self._telling.of(invocation)
        while True:
            exchange = McpExchange(waits.bytes_max, asked.is_read, mirrored=mirrored, progress=progress, told=told)
            try:
                async with self._sessions.of(key, opening, waits=waits) as session:
                    unfit = await self._unfit(session, asked, code=code)
                    found = unfit or await _called(session, asked, exchange=exchange)
            except NotStarted as fault:
                return fault.why
            if not (exchange.is_gone and asked.is_read and session.is_used):
                return found

    async def _unfit(self, session: Session, asked: _Asked, *, code: McpCode) -> Drift | NoAnswer | None:
        """Why a pinned tool is not called: it is not listed as it was reviewed, or nobody can say how it is listed."""
        reviewed = None if code.pin is None else code.pin.look_up if asked.is_look_up else code.pin.listed
        if code.pin is None or reviewed is None:
            return None
        pins = self._pins.get(session)
        if pins is None:
            believed_s = min(self._list_s, BELIEVED_S) if isinstance(code.server, HttpServer) else self._list_s
            pins = self._pins[session] = Pins(session, bytes_max=code.message_bytes_max, believed_s=believed_s)
        found = await pins.held(asked.tool, reviewed, passing=code.pin.passes)
        return None if isinstance(found, Drift) and found.grade is Grade.SAME else found


def _drifted(found: Drift, spec: ToolSpec) -> Failed:
    """Nothing has happened. Only the grade is told: the rest is a server's word, and may be meant to be read."""
    said = (
        f"{spec.name} was not called: its server lists it otherwise than it was reviewed ({found.grade.name.lower()})."
    )
    return Failed(Code.TOOL_QUARANTINED, said, nothing_happened=True)


async def _called(session: Session, asked: _Asked, *, exchange: McpExchange) -> Said | Refused | Illegible | NoAnswer:
    """What it says; of arguments that it calls invalid, whether its tool can have had a say in that."""
    found = await session.call(asked.tool, asked.arguments, meta=asked.meta, exchange=exchange)
    if isinstance(found, Refused) and found.code == HEADER_MISMATCH and asked.is_look_up:
        headers = await repeated(session, asked.tool, asked.arguments, bytes_max=exchange.bytes_max)
        again = McpExchange(exchange.bytes_max, mirrored=headers, progress=exchange.progress)
        found = await session.call(asked.tool, asked.arguments, meta=asked.meta, exchange=again)
    if not isinstance(found, Refused) or found.code != INVALID_PARAMS:
        return found
    why = await unheard(session, asked.tool, asked.arguments, bytes_max=exchange.bytes_max)
    return replace(found, unheard=why)


def _meta(invocation: Invocation, code: McpCode) -> dict[str, Json]:
    meta: dict[str, Json] = {"traceparent": _trace(invocation)}
    if invocation.operation.spec.effect.is_effect:
        ours = ((code.key_meta, invocation.key), (code.fence_meta, invocation.fence))
        meta |= {name: value for name, value in ours if name and value}
    return meta


def _trace(invocation: Invocation) -> str:
    caller = invocation.operation.caller
    return traceparent(caller, operation_id=invocation.operation_id, attempt=invocation.attempt)
