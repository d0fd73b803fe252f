"""Runs gRPC tools: writes the declared message, makes the call under the egress guard, and reads the answer.

Before a connection is there nothing has happened, and an attempt that ends there says so. After it, an effect whose
answer is lost is not known to have happened or not, and never sent again but where its class allows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.grpc_answer import Ended, not_happened, outcome_of
from interlock.core.grpc_call import KIND, GrpcCall, GrpcCode, LookUpCall
from interlock.core.http_answer import Answer, result_of
from interlock.core.http_build import Filling, Unbuildable, build
from interlock.core.http_trace import traceparent
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec, spec_digest
from interlock.ports import Attempt, Invocation
from interlock.runners.exchange import NoAnswer, Progress, Terms, heard, not_built, not_loaded, spool_for
from interlock.runners.grpc_channel import Channels, Way
from interlock.runners.grpc_exchange import Exchanges, Illegible, Sending
from interlock.runners.grpc_message import Messages
from interlock.runners.spool import Spools


@frozen
class _Bound:
    """What one tool is run by."""

    code: GrpcCode
    messages: Messages


class GrpcRunner:
    """Makes the calls of tools that are bound to it, by the digest of the spec that they were declared for.

    `spools` keeps answers that are over a tool's limit, cleaned by `redactor`, which is told the call's credentials.
    """

    def __init__(self, *, channels: Channels, redactor: Redactor | None = None, spools: Spools | None = None) -> None:
        self._exchanges = Exchanges(channels)
        self._redactor = redactor or Redactor()
        self._spools = spools
        self._bound: dict[str, _Bound] = {}

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Bind a tool's calls to its spec. Raises `SpecInvalid` where they are another tool's."""
        if not isinstance(code, GrpcCode) or code.fingerprint != spec.handler.fingerprint:
            raise SpecInvalid(f"{spec.name}: a tool of the kind {KIND} is run by the calls that it declares")
        self._bound[spec_digest(spec)] = _Bound(code, Messages(code.descriptors))

    async def close(self) -> None:
        """Close every connection."""
        await self._exchanges.close()

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt."""
        spec = invocation.operation.spec
        bound = self._bound.get(invocation.operation.tool.digest)
        if bound is None:
            return Attempt(not_loaded(spec, what="calls"))
        sending = _sending(bound.code.call, invocation.operation.values, invocation=invocation, bound=bound)
        if isinstance(sending, Unbuildable):
            return Attempt(not_built(sending, spec))
        progress = Progress()
        asking = self._send(sending, invocation, bound=bound, progress=progress)
        found: Answer | Illegible | Ended | Failed = await heard(asking, invocation, progress=progress)
        if isinstance(found, Failed):
            return Attempt(found)
        if isinstance(found, Ended):
            return Attempt(outcome_of(found, spec=spec, code=bound.code))
        return Attempt(_result(found, spec))

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """None: what must hold is the server's to say, in its answer."""
        return None

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """Whether it happened, as the declared look-up says; None where its answer proves neither."""
        bound = self._bound.get(invocation.operation.tool.digest)
        look_up = None if bound is None else bound.code.look_up
        if bound is None or look_up is None:
            return None
        values = _looked_up(look_up, invocation)
        sending = _sending(look_up.call, values, invocation=invocation, bound=bound)
        if isinstance(sending, Unbuildable):
            return None
        found = await self._send(sending, invocation, bound=bound, progress=Progress(), is_read=True)
        if isinstance(found, Ended):
            return not_happened(found, look_up=look_up)
        return None if isinstance(found, NoAnswer) else _result(found, invocation.operation.spec)

    async def resolve(self, operation: Operation) -> Resource | None:
        """None: a gRPC tool has no resolver."""
        return None

    async def _send(
        self, sending: Sending, invocation: Invocation, *, bound: _Bound, progress: Progress, is_read: bool = False
    ) -> Answer | Illegible | Ended | NoAnswer:
        spec = invocation.operation.spec
        terms = Terms(
            spec.output_bytes_max,
            sending.way.connect_s,
            max(0.0, invocation.deadline_s - asyncio.get_running_loop().time()),
            is_read or not spec.effect.is_effect,
            None if self._spools is None else partial(spool_for, invocation, self._spools, self._redactor),
        )
        return await self._exchanges.send(sending, messages=bound.messages, terms=terms, progress=progress)


def _sending(
    call: GrpcCall, values: Mapping[str, Json], *, invocation: Invocation, bound: _Bound
) -> Sending | Unbuildable:
    request = build(call.request, _filling(call, invocation, code=bound.code))
    if isinstance(request, Unbuildable):
        return request
    message = bound.messages.write(call.takes, values)
    if isinstance(message, Unbuildable):
        return message
    if len(message) > bound.code.message_bytes_max:
        return Unbuildable(f"their message is larger than {bound.code.message_bytes_max} bytes")
    metadata = tuple((name.lower(), value) for name, value in (*request.headers, *request.private))
    way = Way(request.origin, bound.code.connect_timeout_ms / 1_000, bound.code.message_bytes_max)
    return Sending(call, way, message, metadata)


def _filling(call: GrpcCall, invocation: Invocation, *, code: GrpcCode) -> Filling:
    operation = invocation.operation
    trace = traceparent(operation.caller, operation_id=invocation.operation_id, attempt=invocation.attempt)
    metadata = [("traceparent", trace)]
    if call is code.call and operation.spec.effect.is_effect:
        ours = ((code.key_metadata, invocation.key), (code.fence_metadata, str(invocation.fence)))
        metadata += [(name, value) for name, value in ours if name and value]
    return Filling({}, invocation.key, invocation.secrets, tuple(metadata))


def _looked_up(look_up: LookUpCall, invocation: Invocation) -> dict[str, Json]:
    values = invocation.operation.values
    filled = {field: values.get(argument) if argument else invocation.key for field, argument in look_up.fields}
    return {field: value for field, value in filled.items() if value is not None}


def _result(found: Answer | Illegible, spec: ToolSpec) -> Outcome:
    if isinstance(found, Illegible):
        message = "It was executed, but its result cannot be shown: it is no message of the declared kind."
        return Failed(Code.OUTPUT_INVALID, message)
    return result_of(found, limit=spec.output_bytes_max)
