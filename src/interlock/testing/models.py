"""A model that says what a test wrote down, without a network: for tests and benchmarks of what is around a model.

It speaks Chat Completions, and its replies are read by the real codec from a real body, so that whoever keeps the body
can read it again.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

import orjson

from interlock.loop.model import Price, Reply
from interlock.models import openai_chat
from interlock.models.codec import Codec, Options
from interlock.models.dialects import Dialect
from interlock.models.turn import Usage

Call = tuple[str, Mapping[str, object] | str]
"""A tool's name as the model spells it, and its arguments: an object, or raw text that need be none."""

Said = str | Call | Sequence[Call] | bytes | Reply
"""One turn: an answer, a call, several calls, a raw body with status 200, or a whole reply such as a fault."""

Script = Sequence[Said] | Callable[[Mapping[str, object]], Said]
"""The turns in their order, or what makes a turn of a request's body."""

USAGE: Final = Usage(input_tokens=20, output_tokens=10)
OPTIONS: Final = Options(model="scripted", tokens_max=1_000)
REQUESTS_KEPT: Final = 1_000


class ScriptedModel:
    """A `Model` whose turns are `script`. `requests` are the bodies that it was sent, the last `keeps` of them.

    Turns of a list are made once, when the model is, and are given out in order whoever asks. One that has none left
    raises AssertionError, since the test asked more of it than it was written for.
    """

    dialect: Dialect = Dialect.OPENAI_CHAT

    def __init__(
        self,
        script: Script,
        *,
        name: str = "scripted",
        options: Options = OPTIONS,
        price: Price | None = None,
        usage: Usage = USAGE,
        keeps: int = REQUESTS_KEPT,
    ) -> None:
        self.name = name
        self.codec: Codec = openai_chat
        self.options = options
        self.price = price
        self.closed = False
        self._usage = usage
        self._asked = 0
        self._sent: deque[Mapping[str, object]] = deque(maxlen=keeps)
        self._decide = script if callable(script) else None
        turns = () if callable(script) else script
        self._replies = [reply_of(said, number=number, usage=usage) for number, said in enumerate(turns)]

    @property
    def requests(self) -> tuple[Mapping[str, object], ...]:
        """The bodies in the order in which they came, as they were handed over."""
        return tuple(self._sent)

    async def ask(self, body: Mapping[str, object]) -> Reply:
        """The next turn, at once."""
        number = self._asked
        self._asked += 1
        self._sent.append(body)
        if self._decide is not None:
            return reply_of(self._decide(body), number=number, usage=self._usage)
        if number >= len(self._replies):
            raise AssertionError(f"The script of {self.name} has {len(self._replies)} turns; it was asked for another.")
        return self._replies[number]

    async def close(self) -> None:
        """Remember it."""
        self.closed = True


def reply_of(said: Said, *, number: int = 0, usage: Usage = USAGE) -> Reply:
    """The reply that says it. `number` makes the ids of its calls differ from those of other turns."""
    if isinstance(said, Reply):
        return said
    body = said if isinstance(said, bytes) else _body(said, number=number, usage=usage)
    return Reply(openai_chat.read_response(body))


def _body(said: str | Call | Sequence[Call], *, number: int, usage: Usage) -> bytes:
    calls = _calls(said)
    message: dict[str, object] = {"role": "assistant", "content": said if isinstance(said, str) else None}
    if calls:
        message["tool_calls"] = [_spelled(call, label=f"call_{number}_{at}") for at, call in enumerate(calls)]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    used = {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens}
    body = orjson.dumps({"id": f"turn_{number}", "object": "chat.completion", "choices": [choice], "usage": used})
    return memoryview(body).tobytes()  # runs keep it, and the encoder's own bytes hold 4 KB, however few they are


def _calls(said: str | Call | Sequence[Call]) -> list[Call]:
    """A call is a pair that begins with a name; several calls begin with a call."""
    if isinstance(said, str):
        return []
    if said and isinstance(said[0], str):
        return [cast(Call, said)]
    return list(cast(Sequence[Call], said))


def _spelled(call: Call, *, label: str) -> dict[str, object]:
    name, arguments = call
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": label, "type": "function", "function": {"name": name, "arguments": raw}}
