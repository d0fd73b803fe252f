"""Asks a model for its next turn: the small one on this machine, or a hosted one where the environment holds a key."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import httpx
from model_server import MODEL_NAME, running_model
from prompts import TOKENS_MAX

from interlock.models.openai_chat import Choice, Options, StreamReader, Turn, read_response, request

HOSTED_URL: Final = "https://api.openai.com/v1"
HOSTED_MODEL: Final = "gpt-5-mini"
HOSTED_TOKENS_MAX: Final = 4_000
ANSWER_TIMEOUT_S: Final = 120.0
PIECE_BYTES: Final = 65_536
ERROR_PIECES_MAX: Final = 16
# The small model's server closes a connection after a stream without saying so: one that is used again may be dead.
FRESH: Final = httpx.Limits(max_keepalive_connections=0)


@dataclass(frozen=True, slots=True)
class ChatModel:
    """One model behind one address. The key is in the client's headers and in nothing that is ever shown."""

    options: Options
    place: str
    client: httpx.Client = field(repr=False)

    def ask(self, messages: Sequence[Mapping[str, object]], *, tools: Sequence[Mapping[str, object]]) -> Turn:
        """The model's next turn. A connection that fails gives a turn that runs nothing, not an exception."""
        body = request(messages, options=self.options, tools=tools, choice=Choice.REQUIRED)
        reader = StreamReader()
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        with (
            suppress(httpx.TransportError),  # the reader then holds half a turn and judges it as dropped
            self.client.stream("POST", "chat/completions", json=body) as response,
        ):
            if response.status_code >= 400:
                body_start = b"".join(islice(response.iter_bytes(PIECE_BYTES), ERROR_PIECES_MAX))
                return read_response(body_start, status=response.status_code)
            for chunk in response.iter_bytes():
                reader.feed(chunk)
                if reader.over or time.monotonic() > deadline:
                    break
        return reader.end()


@contextmanager
def open_model() -> Iterator[ChatModel]:
    """A hosted model where OPENAI_API_KEY is set (OPENAI_BASE_URL, INTERLOCK_MODEL: which), else the small one."""
    key = os.environ.get("OPENAI_API_KEY", "")
    if key:
        options = _hosted_options(os.environ.get("INTERLOCK_MODEL") or HOSTED_MODEL)
        base_url = os.environ.get("OPENAI_BASE_URL") or HOSTED_URL
        with httpx.Client(
            base_url=base_url, headers={"Authorization": f"Bearer {key}"}, timeout=ANSWER_TIMEOUT_S
        ) as client:
            yield ChatModel(options, place=httpx.URL(base_url).host, client=client)
        return
    options = Options(model=MODEL_NAME, tokens_max=TOKENS_MAX, temperature=0, stream=True)
    with (
        running_model() as server,
        httpx.Client(base_url=server.base_url, timeout=ANSWER_TIMEOUT_S, limits=FRESH, trust_env=False) as client,
    ):
        yield ChatModel(options, place="this machine", client=client)


def _hosted_options(model: str) -> Options:
    """Reasoning models take no temperature and count their thinking as tokens of the answer."""
    return Options(model=model, tokens_max=HOSTED_TOKENS_MAX, stream=True, tokens_field="max_completion_tokens")
