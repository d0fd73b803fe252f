"""Runs HTTP tools: fills the declared request, sends it under the egress guard, and reads the answer within its limit.

Before the first byte of a request goes out nothing has happened, and an attempt that ends there says so. After it, an
effect whose answer is lost is not known to have happened or not, and never sent again but where its class allows it.
"""

from __future__ import annotations

import ssl
from dataclasses import replace
from functools import partial

from interlock.core.errors import SpecInvalid
from interlock.core.http_answer import Answer, found_of, is_text, outcome_of
from interlock.core.http_build import Filling, Request, Unbuildable, build
from interlock.core.http_template import HttpCode, Template
from interlock.core.http_trace import traceparent
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome
from interlock.core.redaction import Redactor
from interlock.core.resource import Resource
from interlock.core.text import clean
from interlock.core.tool import ToolSpec, spec_digest
from interlock.ports import Attempt, Clock, Invocation
from interlock.runners.egress import GuardedNetwork
from interlock.runners.exchange import NoAnswer, Progress, Terms, heard, not_built, not_loaded, spool_for
from interlock.runners.http_exchange import Exchanges
from interlock.runners.spool import Spools


class HttpRunner:
    """Sends the requests of tools that are bound to it, by the digest of the spec that they were declared for.

    `spools` keeps texts that are over a tool's limit, cleaned by `redactor`, which is told the call's credentials.
    `network` is what they may reach: by default public addresses. `tls` replaces the certificates that are trusted.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        network: GuardedNetwork | None = None,
        tls: ssl.SSLContext | None = None,
        redactor: Redactor | None = None,
        spools: Spools | None = None,
    ) -> None:
        self._clock = clock
        self._redactor = redactor or Redactor()
        self._spools = spools
        self._network = network or GuardedNetwork()
        self._tls = tls
        self._exchanges: Exchanges | None = None
        self._bound: dict[str, HttpCode] = {}

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Bind a tool's requests to its spec. Raises `SpecInvalid` where they are another tool's."""
        if not isinstance(code, HttpCode) or code.fingerprint != spec.handler.fingerprint:
            raise SpecInvalid(f"{spec.name}: a tool of the kind http is run by the requests that it declares")
        self._bound[spec_digest(spec)] = code

    async def close(self) -> None:
        """Close every connection."""
        if self._exchanges is not None:
            await self._exchanges.close()

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt."""
        spec = invocation.operation.spec
        code = self._bound.get(invocation.operation.tool.digest)
        if code is None:
            return Attempt(not_loaded(spec, what="requests"))
        request = build(code.request, _filling(invocation, code))
        if isinstance(request, Unbuildable):
            return Attempt(not_built(request, spec))
        progress = Progress()
        asking = self._send(request, invocation, code=code, progress=progress)
        found = await heard(asking, invocation, progress=progress)
        if isinstance(found, Failed):
            return Attempt(found)
        return Attempt(outcome_of(self._safe(found, invocation), spec=spec, code=code, now_us=self._clock.now_us()))

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """None: what must hold is the server's to say, in its answer."""
        return None

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """Whether it happened, as the declared look-up says; None where its answer proves neither.

        It is not redirected: what a page to log in on answers says nothing of what was looked up.
        """
        code = self._bound.get(invocation.operation.tool.digest)
        if code is None or code.look_up is None:
            return None
        request = build(code.look_up, _filling(invocation, code, of=code.look_up))
        if isinstance(request, Unbuildable):
            return None
        found = await self._send(request, invocation, code=code, progress=Progress(), is_look_up=True)
        if isinstance(found, NoAnswer):
            return None
        return found_of(self._safe(found, invocation), spec=invocation.operation.spec, code=code)

    async def resolve(self, operation: Operation) -> Resource | None:
        """None: an HTTP tool has no resolver."""
        return None

    async def _send(
        self, request: Request, invocation: Invocation, *, code: HttpCode, progress: Progress, is_look_up: bool = False
    ) -> Answer | NoAnswer:
        if self._exchanges is None:
            self._exchanges = Exchanges(self._network, tls=self._tls)
        spec = invocation.operation.spec
        terms = Terms(
            spec.output_bytes_max,
            code.connect_timeout_ms / 1_000,
            code.read_timeout_ms / 1_000,
            is_look_up or not spec.effect.is_effect,
            None if self._spools is None else partial(spool_for, invocation, self._spools, self._redactor),
            is_redirected=not is_look_up,
        )
        return await self._exchanges.send(request, terms=terms, progress=progress)

    def _safe(self, answer: Answer, invocation: Invocation) -> Answer:
        """The answer, redacted where it will be cut: half of what is to be hidden is known by nothing any more."""
        if answer.is_whole or answer.whole is not None or not is_text(answer.media_type):
            return answer
        redactor = self._redactor.with_secrets(invocation.secrets.values())
        return replace(answer, data=redactor.text(clean(answer.data.decode("utf-8", "replace")).text).encode())


def _filling(invocation: Invocation, code: HttpCode, *, of: Template | None = None) -> Filling:
    operation = invocation.operation
    trace = traceparent(operation.caller, operation_id=invocation.operation_id, attempt=invocation.attempt)
    headers = [("User-Agent", "interlock"), ("Accept-Encoding", "gzip"), ("traceparent", trace)]
    if "accept" not in (of or code.request).header_names:
        headers.append(("Accept", "application/json, */*;q=0.5"))
    if of is None and operation.spec.effect.is_effect:
        ours = ((code.key_header, invocation.key), (code.fence_header, str(invocation.fence)))
        headers += [(name, value) for name, value in ours if name and value]
    return Filling(operation.values, invocation.key, invocation.secrets, tuple(headers))
