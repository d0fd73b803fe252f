"""The W3C trace context that HTTP, gRPC and MCP tools send: the caller's where there is one, else the run's own."""

from __future__ import annotations

import re
from hashlib import sha256

from interlock.core.call import Caller

_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")


def traceparent(caller: Caller, *, operation_id: str, attempt: int) -> str:
    """A `traceparent` header. All calls of a run share a trace, and each attempt is a span of its own."""
    span = sha256(f"{operation_id}\0{attempt}".encode()).hexdigest()[:16]
    return f"00-{_trace_id(caller, operation_id)}-{span}-01"


def _trace_id(caller: Caller, operation_id: str) -> str:
    if _TRACE_ID.fullmatch(caller.origin.trace_id):
        return caller.origin.trace_id
    place = f"operation\0{operation_id}" if caller.run is None else f"run\0{caller.principal.tenant}\0{caller.run}"
    return sha256(place.encode()).hexdigest()[:32]
