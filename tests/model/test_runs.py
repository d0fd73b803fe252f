"""Whole runs with a real small model on this machine, through the three dialects that its server speaks."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated

import pytest
from model_server import RunningModel, running_model

from interlock import Arg, Gate, Host, PolicySource, tool
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.providers import AnthropicMessages, OpenAIChat, OpenAIResponses, Patience
from interlock.providers.hosted import Hosted
from tests.gates import ALICE, ALL

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.requirement("LOOP-2", "LOOP-3"),
    pytest.mark.timeout(300),
]

PATIENCE = Patience(first_byte_s=120.0, between_bytes_s=60.0, total_s=180.0)
MAKERS: dict[str, Callable[[str], Hosted]] = {
    "chat": lambda at: OpenAIChat("small", base_url=at),
    "responses": lambda at: OpenAIResponses("small", base_url=at),
    "messages": lambda at: AnthropicMessages("small", base_url=at),
}
ENDS = {State.COMPLETE, State.ABORTED, State.FAILED}
"""A model of this size may talk on, repeat itself or invent names; whatever it does, the run ends with a reason."""


@pytest.fixture(scope="module")
def server(installed: None) -> Iterator[RunningModel]:
    with running_model() as running:
        yield running


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", MAKERS)
async def test_a_run_with_a_real_model_calls_a_tool_and_ends_with_a_reason(
    server: RunningModel, kind: str, stream: bool
) -> None:
    sums: list[int] = []
    number = Arg(ge=0, le=99)

    @tool(effect="read", owner="sums")
    async def add(a: Annotated[int, number], b: Annotated[int, number]) -> int:
        """Add two numbers."""
        sums.append(a + b)
        return a + b

    made = MAKERS[kind](server.base_url)
    model = replace(made, name="small", stream=stream, tokens_max=60, temperature=0, patience=PATIENCE)
    limits = RunLimits(rounds=4, faults=1)
    async with Gate.open(tools=[add], policies=[PolicySource("all", ALL)], host=Host(models=(model,))) as gate:
        run = await gate.runs.start(model="small", task="Add 4 and 5 with add.", principal=ALICE, limits=limits)
        async with asyncio.timeout(240):
            report = await run.result()
        kinds = [event.kind async for event in run.events()]
        seen = [event.data for event in [each async for each in run.events()] if event.kind == "observed"]
    assert report.state in ENDS, report
    assert report.reason, report
    assert kinds[0] == "begun"
    assert kinds[-1] == "ended"
    assert report.spent.rounds <= 4
    assert report.spent.tokens > 0
    assert len([each for each in seen if each["status"] == "ok"]) == len(sums)
