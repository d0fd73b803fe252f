"""A Chat Completions server whose turns are written in the test, for programs that run as processes of their own."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-scripted-0123456789abcdef"

Call = tuple[str, str]
"""A tool's name and raw arguments."""


@dataclass
class ScriptedModel:
    """Answers request number n with turn number n: calls, a text, or (None) silence. Keeps what it was asked."""

    turns: Sequence[Sequence[Call] | str | None]
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    silent: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    @property
    def environment(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": self.url, "INTERLOCK_MODEL": "scripted", "NO_PROXY": "*"}


@contextmanager
def scripted_model(*turns: Sequence[Call] | str | None) -> Iterator[ScriptedModel]:
    model = ScriptedModel(turns)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _answering(model))
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield model
    finally:
        model.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _answering(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            model.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            turn = model.turns[len(model.asked) - 1]
            if turn is None:
                model.silent.set()
                model.over.wait(60)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(_stream(turn))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
            """Not shown."""

    return Answering


def _stream(turn: Sequence[Call] | str) -> bytes:
    if isinstance(turn, str):
        delta: dict[str, object] = {"content": turn}
        stop = "stop"
    else:
        calls = [
            {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": raw}}
            for index, (name, raw) in enumerate(turn)
        ]
        delta, stop = {"tool_calls": calls}, "tool_calls"
    chunks = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}},
    ]
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"
