"""Codecs against a real server and a real model on this machine: a call comes, its result goes back, and is taken."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from interlock.models import anthropic, openai_chat, openai_responses
from interlock.models.codec import Answer, Choice, Codec, Options
from interlock.models.names import spell
from interlock.models.turn import Ended, Turn

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "research-agent"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "maximum": 99}, "b": {"type": "integer", "maximum": 99}},
    "required": ["a", "b"],
}
ANSWER_TIMEOUT_S = 110


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    server = _model_server()
    try:
        server.weights()
    except server.ModelUnavailable as missing:
        pytest.skip(str(missing))
    fresh = httpx.Limits(max_keepalive_connections=0)
    with (
        server.running_model() as model,
        httpx.Client(base_url=model.base_url, timeout=ANSWER_TIMEOUT_S, limits=fresh, trust_env=False) as http,
    ):
        yield http


@pytest.mark.requirement("LOOP-2")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("codec", "path"),
    [(openai_responses, "responses"), (openai_chat, "chat/completions"), (anthropic, "messages")],
    ids=["responses", "chat", "messages"],
)
def test_a_call_comes_and_its_result_is_taken(client: httpx.Client, codec: Codec, path: str, stream: bool) -> None:
    tools = codec.declarations([("add", "Adds two numbers.", SCHEMA)], names=spell(["add"]))
    options = Options(model="small", tokens_max=60, temperature=0, stream=stream)
    history: list[dict[str, object]] = [{"role": "user", "content": "Add 4 and 5 with add."}]
    asked = _ask(client, path, codec, codec.request(history, options=options, tools=tools, choice=Choice.REQUIRED))
    assert (asked.ended, [call.name for call in asked.runnable]) == (Ended.CALLS_ALLOWED, ["add"]), asked.raw
    history += codec.echo(asked) + codec.results([Answer(call, "9") for call in asked.calls])
    told = _ask(client, path, codec, codec.request(history, options=options, tools=tools))
    assert told.ended in {Ended.ANSWER, Ended.CALLS_ALLOWED, Ended.TRUNCATED}, told.reason
    assert told.usage.output_tokens


def _ask(client: httpx.Client, path: str, codec: Codec, body: dict[str, object]) -> Turn:
    response = client.post(path, json=body)
    if body.get("stream"):
        return codec.read_stream([response.content], status=response.status_code)
    return codec.read_response(response.content, status=response.status_code)


def _model_server() -> ModuleType:
    """The example's module that starts the model, imported the way that its own program does."""
    if str(EXAMPLE) not in sys.path:
        sys.path.append(str(EXAMPLE))
    return importlib.import_module("model_server")
