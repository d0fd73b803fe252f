"""Every request carries a trace context: the caller's, or one that all calls of its run share."""

import re
from dataclasses import replace

import pytest

from interlock.core.call import Caller, Origin, Principal
from interlock.core.http_trace import traceparent

CALLER = Caller(Principal("acme", "alice"))
TRACE = "0af7651916cd43dd8448eb211c80319c"


def trace_of(caller: Caller, operation_id: str = "op-1", attempt: int = 1) -> list[str]:
    text = traceparent(caller, operation_id=operation_id, attempt=attempt)
    assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", text)
    return text.split("-")[1:3]


@pytest.mark.requirement("AUD-5")
def test_the_callers_trace_goes_on_and_what_is_none_does_not() -> None:
    assert trace_of(replace(CALLER, origin=Origin(trace_id=TRACE)))[0] == TRACE
    for forged in ("0" * 32, TRACE.upper(), TRACE + "\r\nX: 1", "", "short"):
        assert trace_of(replace(CALLER, origin=Origin(trace_id=forged))) == trace_of(CALLER)


@pytest.mark.requirement("AUD-5")
def test_calls_of_a_run_share_a_trace_and_attempts_are_spans_of_their_own() -> None:
    run = replace(CALLER, run="r1")
    assert trace_of(run, "op-1")[0] == trace_of(run, "op-2")[0]
    other = replace(run, principal=Principal("other", "alice"))
    assert trace_of(run)[0] != trace_of(other)[0]
    spans = {trace_of(run, operation, attempt)[1] for operation in ("op-1", "op-2") for attempt in (1, 2)}
    assert len(spans) == 4
