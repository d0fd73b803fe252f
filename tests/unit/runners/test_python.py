"""Whatever a Python function does becomes an outcome; only the caller's cancellation gets out."""

import asyncio
import base64
import logging
import threading
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import quote

import pytest

from interlock.core.budget import Amounts
from interlock.core.errors import SpecInvalid, ToolFault
from interlock.core.evidence import Source
from interlock.core.faults import TIMED_OUT
from interlock.core.functions import Context, Functions, Result
from interlock.core.items import Item, ItemState
from interlock.core.labels import Confidentiality, Labels
from interlock.core.outcome import Failed, Partial, Produced, Succeeded
from interlock.core.redaction import MASK, Redactor
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ErrorContract
from interlock.declare import Arg, Declared, tool
from interlock.ports import Attempt
from interlock.runners.python import PythonRunner
from interlock.runners.threads import StillRunning, Threads
from interlock.runtime.bounded import Overdue, bounded
from tests.execution import ALICE, PLAIN, invocation_of, runner_of

pytestmark = pytest.mark.anyio


def spelled(secret: str) -> list[str]:
    """As an exception may show what a request was made of."""
    data = secret.encode()
    return [secret, base64.b64encode(b"user:" + data).decode(), quote(data), data.hex()]


@dataclass(frozen=True)
class Size:
    width: int


@tool(effect="read")
async def describe(
    name: str, size: Size, ctx: Context, tenant: Annotated[str, Arg(inject="tenant")]
) -> dict[str, object]:
    """Describe what arrives."""
    assert isinstance(size, Size)
    return {
        "name": name,
        "width": size.width,
        "tenant": tenant,
        "principal": ctx.principal.id,
        "key": ctx.key,
        "fence": ctx.fence,
        "task": ctx.task,
        "secret": len(ctx.secrets["token"]),
    }


@pytest.mark.requirement("EXEC-8")
async def test_a_handler_gets_typed_arguments_and_its_context() -> None:
    invocation = invocation_of(describe, {"name": "x", "size": {"width": 2**60}}, secrets={"token": "s3cret!"})
    attempt = await runner_of(describe).run(invocation)
    expected = (
        b'{"name":"x","width":1152921504606846976,"tenant":"acme","principal":"alice","key":"","fence":7,'
        b'"task":"task-1","secret":7}'
    )
    assert attempt == Attempt(Succeeded(expected))
    assert "s3cret!" not in repr(Context(ALICE, "op", "key", 1, 0.0, secrets={"token": "s3cret!"}))


@pytest.mark.requirement("CALL-7")
async def test_a_handler_cannot_change_the_frozen_arguments() -> None:
    @tool(effect="read")
    async def greedy(items: list[int]) -> int:
        """Take it all."""
        items.clear()
        return len(items)

    invocation = invocation_of(greedy, {"items": [1, 2]})
    await runner_of(greedy).run(invocation)
    assert invocation.operation.values == {"items": [1, 2]}
    assert invocation.operation.arguments == b'{"items":[1,2]}'


@pytest.mark.requirement("OBS-1")
async def test_a_result_carries_what_the_handler_knows_of_it() -> None:
    labels = Labels(Confidentiality.INTERNAL)
    source = Source("doc:1", line_first=3)

    @tool(effect="write", resource=("Draft", "name"))
    async def save(name: str) -> Result:
        """Save it."""
        return Result({"v": 2}, (source,), labels, 150, 20, "2", "m1", 99, ("b",) if name == "some" else ())

    produced = Produced((source,), labels, Amounts(tokens=20, cost_micros=150), "2", "m1", 99)
    runner = runner_of(save)
    assert (await runner.run(invocation_of(save, {"name": "all"}))).outcome == Succeeded(b'{"v":2}', produced)
    some = await runner.run(invocation_of(save, {"name": "some"}))
    assert some.outcome == Partial(b'{"v":2}', ("b",), replace(produced, items=(Item("b", ItemState.OPEN),)))


@pytest.mark.requirement("EXEC-5", "EXEC-8")
@pytest.mark.parametrize("is_async", [True, False])
async def test_an_exception_tells_its_type_only_and_its_trace_goes_redacted_to_the_log(
    is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def later(word: str, ctx: Context) -> str:
        """Fail."""
        raise KeyError("hush-hush", *spelled(ctx.secrets["token"]), word)

    def now(word: str, ctx: Context) -> str:
        """Fail."""
        raise KeyError("hush-hush", *spelled(ctx.secrets["token"]), word)

    declared: Declared[..., object] = tool(effect="read")(later) if is_async else tool(effect="read")(now)
    runner = runner_of(declared, redactor=Redactor(["hush-hush"]))
    with caplog.at_level(logging.ERROR, "interlock.tools"):
        attempt = await runner.run(invocation_of(declared, {"word": "x"}, secrets={"token": "s3/cret+"}))
    assert attempt == Attempt(Failed(Code.TOOL_EXCEPTION, f"{declared.name} failed with KeyError."))
    assert "Traceback" in caplog.text
    for spelling in ("hush-hush", "s3/cret+", "My9jcmV0", "s3/cret%2B", "73332f6372"):
        assert spelling not in caplog.text
    assert caplog.text.count(MASK) >= 5


@pytest.mark.requirement("TOOL-1")
async def test_a_declared_error_is_told_as_the_contract_says_and_an_undeclared_one_is_not() -> None:
    @tool(effect="read", errors=[ErrorContract("BUSY", retryable=True, nothing_happened=True)])
    async def fail(code: str) -> None:
        """Fail."""
        raise ToolFault(code, "Come back later.", retry_after_s=3.0)

    runner = runner_of(fail)
    busy = Failed(Code.TOOL_ERROR, "Come back later.", "BUSY", retryable=True, retry_after_s=3.0, nothing_happened=True)
    assert (await runner.run(invocation_of(fail, {"code": "BUSY"}))).outcome == busy
    other = (await runner.run(invocation_of(fail, {"code": "OTHER"}))).outcome
    assert other == Failed(Code.TOOL_EXCEPTION, "fail reported an error that it does not declare.")


@pytest.mark.requirement("EXEC-4", "EXEC-5")
async def test_a_cancellation_of_its_own_is_the_tools_fault_and_harms_no_sibling() -> None:
    @tool(effect="read")
    async def fail(really: bool) -> str:
        """Cancel itself, or not."""
        if really:
            raise asyncio.CancelledError
        return "ok"

    runner = runner_of(fail)
    calls = [runner.run(invocation_of(fail, {"really": each})) for each in (False, True, False)]
    outcomes = [each.outcome for each in await asyncio.gather(*calls)]
    ok, failed = Succeeded(b'"ok"'), Failed(Code.TOOL_EXCEPTION, "fail failed with CancelledError.")
    assert outcomes == [ok, failed, ok]


async def test_a_cancellation_by_the_caller_reaches_the_handler_and_gets_out() -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    @tool(effect="write")
    async def wait() -> None:
        """Wait to be stopped."""
        begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            stopped.set()

    async def call() -> Attempt:
        return await runner_of(wait).run(invocation_of(wait))

    task = asyncio.create_task(call())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()


async def test_a_handler_that_asks_the_interpreter_to_exit_only_fails() -> None:
    @tool(effect="read")
    def leave() -> None:
        """Leave."""
        raise SystemExit(3)

    assert (await runner_of(leave).run(invocation_of(leave))).outcome == Failed(
        Code.TOOL_EXCEPTION, "leave failed with SystemExit."
    )


@pytest.mark.requirement("EXEC-1")
async def test_a_thread_that_outlives_its_deadline_answers_and_its_late_outcome_is_the_tail() -> None:
    begun, go = threading.Event(), threading.Event()

    @tool(effect="read")
    def slow() -> str:
        """Take time."""
        begun.set()
        go.wait(10)
        return "late"

    invocation = invocation_of(slow, within_s=0.05)
    attempt = await bounded(runner_of(slow).run(invocation), until_s=invocation.deadline_s)
    assert isinstance(attempt, Attempt)
    assert attempt.outcome is TIMED_OUT
    assert begun.is_set()
    go.set()
    assert attempt.tail is not None
    assert await attempt.tail == Succeeded(b'"late"')


@pytest.mark.requirement("EXEC-1")
async def test_a_call_that_found_no_free_thread_by_its_deadline_never_runs() -> None:
    go, ran = threading.Event(), []

    @tool(effect="write")
    def slow(number: int) -> None:
        """Take time."""
        ran.append(number)
        go.wait(10)

    runner = PythonRunner(redactor=PLAIN, threads=Threads(threads_max=1, waiting_max=1))
    runner.bind(slow.spec(), code=slow.functions)
    first = asyncio.ensure_future(runner.run(invocation_of(slow, {"number": 1})))
    while not ran:
        await asyncio.to_thread(lambda: None)
    invocation = invocation_of(slow, {"number": 2}, within_s=0.02)
    waiting = asyncio.ensure_future(bounded(runner.run(invocation), until_s=invocation.deadline_s))
    await asyncio.to_thread(lambda: None)
    full = await runner.run(invocation_of(slow, {"number": 3}))
    late = await waiting
    go.set()
    await first
    assert ran == [1]
    assert not isinstance(late, Overdue)
    for each in (full.outcome, late.outcome):
        assert isinstance(each, Failed)
        assert (each.code, each.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)
    await runner.close()


@pytest.mark.requirement("EXEC-1")
async def test_a_cancelled_call_says_that_its_thread_goes_on() -> None:
    begun, go = threading.Event(), threading.Event()

    @tool(effect="write")
    def slow() -> str:
        """Take time."""
        begun.set()
        go.wait(10)
        return "late"

    async def call() -> Attempt:
        return await runner_of(slow).run(invocation_of(slow))

    task = asyncio.create_task(call())
    await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(StillRunning) as cancelled:
        await task
    go.set()
    assert await cancelled.value.tail == Succeeded(b'"late"')


async def test_code_that_is_not_loaded_proves_that_nothing_ran() -> None:
    outcome = (
        await PythonRunner(redactor=PLAIN).run(invocation_of(describe, {"name": "x", "size": {"width": 1}}))
    ).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)


def check_word(word: str) -> object:
    if word == "raise":
        raise KeyError(word)
    return {"none": None, "true": True, "false": False, "text": "Not today.", "odd": 1}[word]


@pytest.mark.requirement("TOOL-8")
@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("none", None),
        ("true", None),
        ("false", "A condition of the operation does not hold."),
        ("text", "Not today."),
        ("odd", "A condition of the operation does not hold."),
        ("raise", "A condition could not be checked."),
    ],
)
async def test_only_a_clear_yes_passes_a_precondition(word: str, message: str | None) -> None:
    @tool(effect="write", precondition=check_word)
    async def act(word: str, other: int = 1) -> None:
        """Act."""

    found = await runner_of(act).precondition(invocation_of(act, {"word": word}))
    refused = None if message is None else Failed(Code.PRECONDITION_FAILED, message, nothing_happened=True)
    assert found == refused


@pytest.mark.requirement("IDEM-3")
async def test_a_reconcile_function_tells_done_not_done_or_cannot_tell() -> None:
    async def find(word: str, ctx: Context) -> object:
        if word == "raise":
            raise KeyError(word)
        return {"key": ctx.fence} if word == "done" else None

    @tool(effect="write", reconcile=find)
    async def act(word: str) -> None:
        """Act."""

    runner = runner_of(act)
    assert await runner.reconcile(invocation_of(act, {"word": "done"})) == Succeeded(b'{"key":7}')
    undone = await runner.reconcile(invocation_of(act, {"word": "undone"}))
    assert isinstance(undone, Failed)
    assert undone.nothing_happened
    assert await runner.reconcile(invocation_of(act, {"word": "raise"})) is None


async def test_a_resolver_gives_the_resource_and_anything_else_is_none() -> None:
    def find(name: str) -> object:
        return Resource("Draft", name, "3", {"owner": "alice"}) if name == "r1" else "what?"

    @tool(effect="write", resource=("Draft", "name"), resolve=find)
    async def act(name: str) -> None:
        """Act."""

    runner = runner_of(act)
    found = await runner.resolve(invocation_of(act, {"name": "r1"}).operation)
    assert found == Resource("Draft", "r1", "3", {"owner": "alice"})
    assert await runner.resolve(invocation_of(act, {"name": "r2"}).operation) is None


@pytest.mark.requirement("TOOL-5")
def test_functions_that_do_not_fit_their_spec_are_not_bound() -> None:
    runner = PythonRunner(redactor=PLAIN)

    async def other(nome: str) -> None:
        """Not the same."""

    with pytest.raises(SpecInvalid, match="no such parameter"):
        runner.bind(describe.spec(), code=Functions(other))

    @tool(effect="write", reconcile=check_word)
    async def act(word: str) -> None:
        """Act."""

    with pytest.raises(SpecInvalid, match="reconcile"):
        runner.bind(act.spec(), code=Functions(act.functions.handler))
