"""Whole runs against a scripted server of all five providers: several turns, and faults in the middle of them."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from interlock import Gate, Host, PolicySource, tool
from interlock.loop.desk import RunReport
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Price, Reply
from interlock.models.codec import Codec, Options
from interlock.models.dialects import Dialect
from interlock.providers import AnthropicMessages, Bedrock, Gemini, OpenAIChat, OpenAIResponses, Patience
from interlock.providers.hosted import Hosted
from tests.aimock import scripted
from tests.gates import ALICE, ALL

pytestmark = [pytest.mark.requirement("LOOP-2", "LOOP-3", "LOOP-7"), pytest.mark.timeout(120)]

STOP = {"finishReason": "STOP"}
READ = {"toolCalls": [{"name": "read_order", "arguments": {"order": 7}}]}
NOTE = {"toolCalls": [{"name": "note", "arguments": {"text": "sent"}}]}
BROKEN = {"toolCalls": [{"name": "read_order", "arguments": '{"order": '}]}
LONG = {"content": "This answer is cut in its middle. " * 20}
ILL = {"error": {"message": "Ill.", "type": "server_error"}, "status": 500}
FAST = {"error": {"message": "Slow down.", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1}


def fixtures() -> Iterator[dict[str, Any]]:
    yield {"match": {"model": "cut"}, "response": LONG, "truncateAfterChunks": 4}
    yield {"match": {"model": "stalled"}, "response": LONG, "latency": 5_000}
    yield {"match": {"model": "ill"}, "response": ILL}
    yield {"match": {"model": "fast"}, "response": FAST}
    yield {"match": {"model": "broken-gemini"}, "response": BROKEN | STOP}
    yield {"match": {"model": "broken"}, "response": BROKEN}
    for turn, said in enumerate((READ, NOTE, {"content": "Order 7 was sent."})):
        stop = STOP if "toolCalls" in said else {}
        yield {"match": {"model": f"turn-{turn}-gemini"}, "response": said | stop}
        yield {"match": {"model": f"turn-{turn}"}, "response": said}


MAKERS: dict[str, Callable[[str], Hosted]] = {
    "chat": lambda at: OpenAIChat("x", base_url=f"{at}/v1", api_key="k"),
    "responses": lambda at: OpenAIResponses("x", base_url=f"{at}/v1", api_key="k"),
    "anthropic": lambda at: AnthropicMessages("x", base_url=at, api_key="k"),
    "gemini": lambda at: Gemini("x", base_url=f"{at}/v1beta", api_key="k"),
    "bedrock": lambda at: Bedrock("x", base_url=at, api_key="k"),
}


LONG_FAULTS = {"fast", "stalled"}
"""Faults that are waited for; all providers' are in the slow suite, these providers' in every run."""
ALWAYS = {"chat"}


@dataclass
class InTurn:
    """One model to a run; each request goes to the next of these in turn."""

    models: Sequence[Hosted]
    name: str = "scripted"
    price: Price | None = None
    asked: list[Mapping[str, object]] = field(default_factory=list)

    @property
    def codec(self) -> Codec:
        return self.models[0].codec

    @property
    def dialect(self) -> Dialect:
        return self.models[0].dialect

    @property
    def options(self) -> Options:
        return self.models[0].options

    async def ask(self, body: Mapping[str, object]) -> Reply:
        at = min(len(self.asked), len(self.models) - 1)
        self.asked.append(body)
        return await self.models[at].ask({**body, **({"model": self.models[at].model} if "model" in body else {})})

    async def close(self) -> None:
        for each in self.models:
            await each.close()


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with scripted(list(fixtures()), folder=tmp_path_factory.mktemp("aimock")) as at:
        yield at


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    asked: bool = request.param
    return asked


@pytest.fixture(params=MAKERS)
def kind(request: pytest.FixtureRequest) -> str:
    asked: str = request.param
    return asked


def model_for(kind: str, origin: str, *names: str, stream: bool) -> InTurn:
    made = MAKERS[kind](origin)
    patience = Patience(connect_s=5, first_byte_s=3, between_bytes_s=1, total_s=20)
    suffix = "-gemini" if kind == "gemini" else ""
    spelled = [f"{name}{suffix}" if name.startswith(("turn", "broken")) else name for name in names]
    return InTurn([replace(made, model=name, stream=stream, patience=patience) for name in spelled])


async def run_of(model: InTurn) -> tuple[RunReport, list[str]]:
    """How a run with this model ended, and what its tools were called with."""
    done: list[str] = []

    @tool(effect="read", owner="orders")
    async def read_order(order: int) -> dict[str, str]:
        """Read an order."""
        done.append(f"read {order}")
        return {"state": "sent"}

    @tool(effect="write", owner="orders", key=["text"])
    async def note(text: str) -> dict[str, str]:
        """Note something down."""
        done.append(f"noted {text}")
        return {"noted": text}

    host = Host(models=(model,))
    async with Gate.open(tools=[read_order, note], policies=[PolicySource("all", ALL)], host=host) as gate:
        run = await gate.runs.start(
            model="scripted", task="Where is order 7?", principal=ALICE, limits=RunLimits(faults=2)
        )
        async with asyncio.timeout(60):
            return await run.result(), done


async def test_a_run_of_three_turns_ends_with_the_answer(kind: str, origin: str, stream: bool) -> None:
    model = model_for(kind, origin, "turn-0", "turn-1", "turn-2", stream=stream)
    report, done = await run_of(model)
    assert (report.state, report.answer) == (State.COMPLETE, "Order 7 was sent."), report
    assert done == ["read 7", "noted sent"]
    assert "sent" in str(model.asked[1])


FAULTS = [
    pytest.param(kind, fault, marks=[pytest.mark.slow] if fault in LONG_FAULTS and kind not in ALWAYS else [])
    for kind in MAKERS
    for fault in ("ill", "fast", "cut", "stalled")
]


@pytest.mark.parametrize(("provider", "fault"), FAULTS)
async def test_a_fault_in_the_middle_passes_and_nothing_is_done_twice(provider: str, fault: str, origin: str) -> None:
    stream = fault in {"cut", "stalled"}
    model = model_for(provider, origin, "turn-0", fault, "turn-1", fault, "turn-2", stream=stream)
    report, done = await run_of(model)
    assert (report.state, report.answer) == (State.COMPLETE, "Order 7 was sent."), report
    assert done == ["read 7", "noted sent"]
    assert report.spent.rounds == 3


async def test_arguments_that_are_no_json_never_reach_a_tool(kind: str, origin: str, stream: bool) -> None:
    model = model_for(kind, origin, "broken", "turn-1", "turn-2", stream=stream)
    report, done = await run_of(model)
    assert report.state is State.COMPLETE, report
    assert done == ["noted sent"]
    assert "TOOL_ARGUMENT_INVALID" in str(model.asked[1]) or "INVALID_JSON" in str(model.asked[1])


async def test_a_server_that_stays_ill_ends_the_run_with_the_reason(kind: str, origin: str) -> None:
    report, done = await run_of(model_for(kind, origin, "turn-0", "ill", stream=False))
    assert (report.state, report.reason) == (State.FAILED, "model"), report
    assert "500" in report.why
    assert done == ["read 7"]
