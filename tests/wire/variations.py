"""Recorded responses as they might as well have come: in other frames and pieces, under other names, from odder hosts.

Each variation changes the bytes, and what is expected of them where names and labels are concerned; nothing that is
said. One that does not apply to a case leaves it out.
"""

import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

Case = Mapping[str, Any]
Varied = tuple[Case, bytes] | None
Variation = Callable[[Case, bytes], Varied]


def framed(change: Callable[[str], str]) -> Variation:
    """A variation of the lines of server-sent events."""

    def vary(case: Case, body: bytes) -> Varied:
        return (case, change(_lines(body)).encode()) if case["file"].endswith(".sse") else None

    return vary


def told(change: Callable[[Any], Any]) -> Variation:
    """A variation of the JSON of each event, or of a whole body."""

    def vary(case: Case, body: bytes) -> Varied:
        changed = _with_json(case, body, lambda text: _spelled(change(json.loads(text))))
        return None if change is with_more and "error" in case["expected"] else (case, changed)

    return vary


def _lines(body: bytes) -> str:
    return body.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def _with_json(case: Case, body: bytes, change: Callable[[str], str]) -> bytes:
    """The body with each JSON text in it changed. What is none stays: some cases are about that."""
    if case["file"].endswith(".sse"):
        parts = re.split(r"(?m)^(data: ?)(\{.*)$", _lines(body))
        parts[2::3] = [_tried(change, part) for part in parts[2::3]]
        return "".join(parts).encode()
    if case["file"].endswith(".jsonl"):
        return "".join(f"{_tried(change, line)}\n" for line in body.decode().splitlines()).encode()
    return _tried(change, body.decode()).encode()


def _tried(change: Callable[[str], str], text: str) -> str:
    try:
        json.loads(text, object_pairs_hook=_once)
    except ValueError:
        return text
    return change(text)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _spelled(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def reordered(value: Any) -> Any:
    """Members the other way round, but for the one that names an event of Bedrock's."""
    if isinstance(value, list):
        return [reordered(one) for one in value]
    return {name: reordered(value[name]) for name in reversed(value)} if isinstance(value, dict) else value


def with_more(value: Any) -> Any:
    """Members that nobody knows, in what stands around what was said."""
    if not isinstance(value, dict):
        return value
    more = {"x_unknown": {"id": "x", "calls": [{"name": "rm", "arguments": "{}"}], "text": "no"}, "x_null": None}
    inner = {"choices", "message", "delta", "response", "item", "candidates", "content", "contentBlockDelta", "output"}
    kept = {name: _with_more_below(one) if name in inner else one for name, one in value.items()}
    return kept | more


def _with_more_below(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_more_below(one) for one in value]
    if not isinstance(value, dict) or len(value) == 1:
        return value
    return {**value, "x_unknown": ["x"], "x_null": None}


def commented(lines: str) -> str:
    """Comments, fields and blank lines that servers and proxies put in to keep a connection open."""
    kept = re.sub(r"(?m)^(?=(event|data):)", ": ping\nid: 7\nretry: 100\n", lines)
    return ":\n\n: OPENROUTER PROCESSING\n\n" + kept.replace("\n\n", "\n\n\n: \n\n")


def many_lines(lines: str) -> str:
    """One text in several lines of data, which is one text with line ends."""
    return re.sub(r"(?m)^data: ?\{(?=[\"])(.*)$", r"data:{\ndata:\1", lines)


def without_last_line_end(lines: str) -> str:
    return lines.rstrip("\n")


def renamed(case: Case, body: bytes) -> Varied:
    """Other labels and other tools, one for each that stood there."""
    expected = case["expected"]
    named = {call["name"] for call in expected["calls"] if call["kind"] in {"function", "custom"} and call["name"]}
    named -= {call["name"] for call in expected["provider_calls"]} | {
        call.get("namespace") for call in expected["calls"]
    }
    labels = {each.get("id") for each in [*expected["calls"], *expected["provider_calls"]]} - {None, ""}
    labels |= {call.get("item_id") for call in expected["calls"]} - {None, ""}
    names = {name: f"other.{name}-{len(name)}" for name in named if len(name) > 3}
    others = names | {label: f"{label}_x:9" for label in labels if len(label) > 3}
    if not others or "error" in expected:
        return None
    change = re.compile("|".join(f'"{re.escape(each)}"' for each in sorted(others, key=len, reverse=True)))
    text = body.decode("utf-8")
    if any(f'\\"{name}' in text for name in names) or any(text.count(f'"{name}":') for name in names):
        return None
    mended = _replaced(expected, others)
    return {**case, "expected": mended}, change.sub(lambda found: f'"{others[found[0][1:-1]]}"', text).encode()


def _replaced(value: Any, others: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_replaced(one, others) for one in value]
    if isinstance(value, dict):
        return {name: _replaced(one, others) for name, one in value.items()}
    return others.get(value, value) if isinstance(value, str) else value


PIECES: Final = (
    ("choices", 0, "delta", "content"),
    ("choices", 0, "delta", "tool_calls", 0, "function", "arguments"),
    ("delta",),
    ("delta", "text"),
    ("delta", "partial_json"),
    ("delta", "thinking"),
    ("candidates", 0, "content", "parts", 0, "text"),
    ("contentBlockDelta", "delta", "text"),
    ("contentBlockDelta", "delta", "toolUse", "input"),
)


def smaller(case: Case, body: bytes) -> Varied:
    """Each piece of a text or of arguments letter by letter, in events of its own."""
    if case["file"].endswith(".json"):
        return None
    end = "\n" if case["file"].endswith(".jsonl") else "\n\n"
    cut = [_smaller_event(event) for event in re.split(r"\n\n+" if end == "\n\n" else r"\n", _lines(body)) if event]
    return case, (end.join(event for events in cut for event in events) + end).encode()


def _smaller_event(event: str) -> list[str]:
    found = re.search(r"\{.*\}", event)
    try:
        value = json.loads(found[0]) if found else None
    except ValueError:
        return [event]
    for path in PIECES:
        holder = _at(value, path[:-1])
        text = holder.get(path[-1]) if isinstance(holder, dict) else None
        only = not (isinstance(holder, dict) and ("thoughtSignature" in holder or holder.get("role")))
        if found and isinstance(text, str) and len(text) > 1 and only:
            head, tail = event[: found.start()], event[found.end() :]
            return [f"{head}{one}{tail}" for one in _each_letter(value, holder, path[-1], text)]
    return [event]


def _each_letter(value: Any, holder: dict[Any, Any], name: Any, text: str) -> Iterator[str]:
    stop = value["choices"][0].pop("finish_reason", None) if "choices" in value else None
    for at, letter in enumerate(text):
        holder[name] = letter
        if stop is not None and at == len(text) - 1:
            value["choices"][0]["finish_reason"] = stop
        yield json.dumps(value)


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) == step + 1 else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def in_frames(case: Case, body: bytes) -> Varied:
    """Lines of Bedrock's in the binary frames that they came in."""
    if not case["file"].endswith(".jsonl"):
        return None
    return case, b"".join(_frame(*event) for line in body.decode().splitlines() for event in json.loads(line).items())


def _frame(kind: str, payload: Any) -> bytes:
    word = "exception" if kind.endswith(("Exception", "Error")) else "event"
    headers = b"".join(
        _header(name, value)
        for name, value in ((f":{word}-type", kind), (":content-type", "application/json"), (":message-type", word))
    )
    packed = json.dumps(payload, ensure_ascii=False, indent=1).encode()
    prelude = struct.pack(">II", len(headers) + len(packed) + 16, len(headers))
    frame = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + packed
    return frame + struct.pack(">I", zlib.crc32(frame))


def _header(name: str, value: str) -> bytes:
    return struct.pack(">B", len(name)) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()


def as_array(case: Case, body: bytes) -> Varied:
    """Gemini without `alt=sse`: the same chunks as one array."""
    if case["provider"] != "gemini" or not case["file"].endswith(".sse"):
        return None
    chunks = re.findall(r"(?m)^data: ?(\{.*)$", _lines(body))
    return case, ("[" + "\n,\r\n".join(chunks) + "]").encode()


VARIATIONS: Final[Mapping[str, Variation]] = {
    "line ends of Windows": framed(lambda lines: lines.replace("\n", "\r\n")),
    "line ends of old": framed(lambda lines: lines.replace("\n", "\r")),
    "comments and other fields": framed(commented),
    "no blank behind the colon": framed(lambda lines: re.sub(r"(?m)^(event|data): ", r"\1:", lines)),
    "blanks around": framed(lambda lines: re.sub(r"(?m)^data: ?(.*)$", r"data:  \1  ", lines)),
    "several lines of data": framed(many_lines),
    "a mark of byte order": lambda case, body: (case, b"\xef\xbb\xbf" + body),
    "no last line end": framed(without_last_line_end),
    "members reordered": told(reordered),
    "members that nobody knows": told(with_more),
    "all letters escaped": lambda case, body: (
        case,
        _with_json(case, body, lambda text: json.dumps(json.loads(text), ensure_ascii=True)),
    ),
    "indented": told(lambda value: value),
    "letter by letter": smaller,
    "other names": renamed,
    "in frames": in_frames,
    "as an array": as_array,
}
