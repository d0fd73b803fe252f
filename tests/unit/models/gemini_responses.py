"""Small Gemini responses that tests are written with."""

import json
from collections.abc import Mapping


def call(name: str = "add", **fields: object) -> dict[str, object]:
    return {"functionCall": {"name": name, "args": {"a": 1}} | fields}


def chunk_of(*parts: Mapping[str, object], stop: object = None, **fields: object) -> dict[str, object]:
    candidate: dict[str, object] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate | ({} if stop is None else {"finishReason": stop}) | fields]}


def body_of(*parts: Mapping[str, object], stop: object = "STOP", **fields: object) -> bytes:
    return json.dumps(chunk_of(*parts, stop=stop, **fields)).encode()


def events_of(*chunks: Mapping[str, object]) -> bytes:
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks)


def array_of(*chunks: Mapping[str, object]) -> bytes:
    return b"[" + b",\r\n".join(json.dumps(chunk, indent=2).encode() for chunk in chunks) + b"\n]\n"


def streamed_call(*pieces: dict[str, object], name: str = "add", end: bool = True) -> list[dict[str, object]]:
    """The chunks of one call whose arguments come piece by piece."""
    opened = chunk_of({"functionCall": {"name": name, "willContinue": True}, "thoughtSignature": "c2ln"})
    going = [chunk_of({"functionCall": {"partialArgs": [piece], "willContinue": True}}) for piece in pieces]
    return [opened, *going, *([chunk_of({"functionCall": {}})] if end else [])]
