"""What is said of an exchange that broke off: only what was never sent has certainly not happened."""

import asyncio
import logging
from dataclasses import replace

import pytest

from interlock import tool
from interlock.core.http_build import Unbuildable
from interlock.core.refusals import Code
from interlock.ports import Invocation
from interlock.runners.exchange import NoAnswer, Progress, heard, not_answered, not_built, not_in_time
from tests.execution import invocation_of

pytestmark = pytest.mark.anyio


@tool(effect="write", key=["note"])
async def save(note: str) -> None:
    """Save a note."""


def invocation() -> Invocation:
    return invocation_of(save, {"note": "a"})


async def test_what_cannot_be_built_was_not_sent_and_says_whose_fault_it_is() -> None:
    spec = invocation().operation.spec
    told = not_built(Unbuildable("it is no header", "note"), spec)
    assert (told.code, told.nothing_happened) == (Code.TOOL_ARGUMENT_INVALID, True)
    assert told.message == "note cannot be sent: it is no header."
    told = not_built(Unbuildable("a credential is no header", of_credential=True), spec)
    assert (told.code, told.nothing_happened) == (Code.CONTEXT_MISSING, True)


@pytest.mark.parametrize("is_sent", [True, False])
async def test_only_what_was_never_sent_has_not_happened(is_sent: bool, caplog: pytest.LogCaptureFixture) -> None:
    late = not_in_time(Progress(is_sent))
    assert (late.code is Code.TOOL_TIMEOUT, late.nothing_happened) == (is_sent, not is_sent)
    with caplog.at_level(logging.WARNING, "interlock.tools"):
        lost = not_answered(NoAnswer("the connection broke off"), invocation(), progress=Progress(is_sent))
    assert (lost.nothing_happened, lost.retryable) == (not is_sent, True)
    assert "save, operation" in caplog.text
    assert "the connection broke off" in caplog.text


@pytest.mark.parametrize("is_late", [True, False])
async def test_who_is_cancelled_before_the_deadline_is_cancelled_by_others(is_late: bool) -> None:
    async def hangs() -> NoAnswer:
        raise asyncio.CancelledError

    until_s = asyncio.get_running_loop().time() + (0 if is_late else 60)
    asking = heard(hangs(), replace(invocation(), deadline_s=until_s), progress=Progress(is_sent=True))
    if is_late:
        assert (await asking).code is Code.TOOL_TIMEOUT
    else:
        with pytest.raises(asyncio.CancelledError):
            await asking
