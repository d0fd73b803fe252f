"""Builds Bedrock Converse responses for the tests of their reading: bodies, lines of JSON and binary frames."""

import json
import struct
import zlib
from collections.abc import Mapping

Entry = Mapping[str, object]


def tool_use(
    name: str = "search", sent: object = None, call_id: str = "tooluse_1", **more: object
) -> dict[str, object]:
    call = {"toolUseId": call_id, "name": name, "input": {"query": "a"} if sent is None else sent}
    return {"toolUse": call | more}


def body_of(*content: Entry, stop: str | None = "tool_use", **more: object) -> bytes:
    message = {"role": "assistant", "content": list(content)}
    return json.dumps({"output": {"message": message}, "stopReason": stop} | more).encode()


def began(start: Entry, index: object = 0) -> dict[str, object]:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": start}}


def delta(said: Entry, index: object = 0) -> dict[str, object]:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": said}}


def piece(words: str, index: object = 0) -> dict[str, object]:
    return delta({"toolUse": {"input": words}}, index)


def stopped(index: object = 0) -> dict[str, object]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def call(*pieces: str, index: object = 0, call_id: str = "tooluse_1", name: str = "search") -> list[dict[str, object]]:
    start = began({"toolUse": {"toolUseId": call_id, "name": name}}, index)
    return [start, *(piece(words, index) for words in pieces), stopped(index)]


def end(stop: str = "tool_use") -> dict[str, object]:
    return {"messageStop": {"stopReason": stop}}


START: Entry = {"messageStart": {"role": "assistant"}}


def lines(*events: Entry) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def frame(payload: bytes, *, headers: bytes = b"") -> bytes:
    message = prelude(16 + len(headers) + len(payload), len(headers)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def prelude(size: int, headers_size: int) -> bytes:
    sizes = struct.pack(">II", size, headers_size)
    return sizes + struct.pack(">I", zlib.crc32(sizes))


def header(name: str, value: str) -> bytes:
    spelled = value.encode()
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(spelled)) + spelled


def frames(*events: Entry) -> bytes:
    """Each event as the service frames it; one whose name says that it is an exception, as an exception."""
    return b"".join(_framed(name, said) for event in events for name, said in event.items())


def _framed(name: str, said: object) -> bytes:
    kind = "exception" if name.endswith("Exception") else "event"
    described = header(":message-type", kind) + header(f":{kind}-type", name) + header(":content-type", "text/json")
    return frame(json.dumps(said).encode(), headers=described)
