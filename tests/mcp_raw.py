"""A program that speaks MCP on stdio in raw lines, and is as hostile as it is told to be. It knows no library.

`python mcp_raw.py WAY`. Every way but those of the opening answers the handshake of 2025-11-25, and lists tools.
"""

import json
import select
import sys
from collections.abc import Callable, Iterator
from typing import Any

GOOD = {"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]}
OUTPUT = {"type": "object", "properties": {"thing": {"type": "string"}}, "required": ["thing"]}
BAD: list[Any] = [7, None, {"type": "object", "properties": {"thing": {"type": "nonsense"}}}, {"$ref": "http://x/y"}]


def rests(seconds: float) -> None:
    select.select([], [], [], seconds)


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def result(of: Any, **members: Any) -> bytes:
    return message(id=of, result=members)


def said(of: Any, thing: str = "7") -> bytes:
    return result(of, content=[{"type": "text", "text": thing}], structuredContent={"thing": thing})


def notice(at: int) -> bytes:
    return message(method="notifications/message", params={"level": "info", "data": f"{at}"})


def waits(of: Any) -> None:
    rests(2)
    write(said(of))


def dribbles(of: Any) -> None:
    for at in said(of)[:30]:
        write(bytes([at]))
        rests(0.1)


def never_ends(of: Any) -> None:
    write(b'{"jsonrpc": "2.0", "id": ' + json.dumps(of).encode() + b', "result": {"content": "')
    while True:
        write(b"x" * 65_536)


def is_large(of: Any) -> None:
    write(said(of, "x" * 20_000_000))


def prints_garbage(of: Any) -> None:
    write(b"\x00\xff\xfe no message\n[]\n7\nnull\n" + b"[" * 100_000 + b"\n" + said(of))


def answers_nobody(of: Any) -> None:
    for each in (-1, 2**63, "x", None, 1.5, [of], {}, f"{of}x"):
        write(said(each, "nobody"))
    write(message(id=99, error={"code": -1, "message": "nobody"}) + message(id=99) + said(of))


def floods(of: Any) -> None:
    for at in range(10**9):
        write(b"".join(notice(at * 100 + each) for each in range(100)))


def floods_with_progress(of: Any) -> None:
    for at in range(10**9):
        params = {"progressToken": of, "progress": at, "total": 10**12, "message": "x" * 1_000}
        write(message(method="notifications/progress", params=params))


def floods_with_answers(of: Any) -> None:
    for at in range(10**9):
        write(said(f"{of}-{at}", "nobody"))


def tells_how_far(of: Any) -> None:
    """The token of a call's progress is its id, as the library has it."""
    for done, words in ((1, "half\u200b of it"), (1, "again"), (2, "s3cret-value"), ("x", 3)):
        write(
            message(method="notifications/progress", params={"progressToken": of, "progress": done, "message": words})
        )
        rests(0.2)
    write(said(of))


def asks_without_listening(of: Any) -> None:
    for at in range(10**9):
        write(message(id=f"p{at}", method="ping"))


def changes_its_list(of: Any) -> None:
    for _ in range(2_000):
        write(message(method="notifications/tools/list_changed"))
    write(said(of))


def closes(of: Any) -> None:
    write(said(of)[:40])
    sys.exit(0)


def complains(of: Any) -> None:
    for _ in range(200):
        sys.stderr.write("x" * 500_000)
    write(said(of))


def breaks_its_schema(of: Any) -> None:
    write(result(of, content=[], structuredContent={"thing": 7, "other": "x"}))


def says_nothing_structured(of: Any) -> None:
    write(result(of, content=[{"type": "text", "text": "7"}]))


def answers_twice(of: Any) -> None:
    write(said(of) + said(of, "again"))


def exhausts(of: Any) -> None:
    write(b'{"jsonrpc": "2.0", "id": ' + json.dumps(of).encode() + b', "result": ' + b'{"a":' * 50_000 + b"1\n")
    write(b'{"jsonrpc": "2.0", "id": ' + json.dumps(of).encode() + b', "result": {"content": [], "n": 1e999}}\n')


def does_well(of: Any) -> None:
    write(said(of))


CALLS: dict[str, Callable[[Any], None]] = {
    name: each
    for name, each in globals().items()
    if callable(each) and getattr(each, "__annotations__", {}).keys() == {"of", "return"} and name != "said"
}


def tools(way: str) -> list[dict[str, Any]]:
    """Fifteen tools; of those of `bad_schemas` some are none."""
    found: list[Any] = [
        {"name": f"tool{at}", "inputSchema": GOOD, "outputSchema": OUTPUT, "description": "It does."}
        for at in range(15)
    ]
    if way == "bad_schemas":
        for at, schema in enumerate(BAD):
            found[3 + at]["inputSchema"] = schema
        found[8] = {"name": 7, "inputSchema": GOOD}
        found[9] = "no tool"
    return found


def page(way: str, asked: Any) -> dict[str, Any]:
    cursor = asked.get("params", {}).get("cursor")
    if way == "same_cursor":
        return {"tools": tools(way)[:1], "nextCursor": "again"}
    if way == "endless_cursors":
        return {"tools": tools(way)[:1], "nextCursor": f"{cursor}x"}
    at = int(cursor or "0")
    return {"tools": tools(way)[at : at + 5], **({"nextCursor": f"{at + 5}"} if at < 10 else {})}


def opened(way: str, of: Any) -> Iterator[bytes]:
    """The answer to `initialize`."""
    version = {"unknown_revision": "1999-01-01", "no_revision": 7}.get(way, "2025-11-25")
    if way == "no_opening":
        yield result(of, hello="there")
    elif way != "never_opens":
        yield result(
            of, protocolVersion=version, capabilities={"tools": {}}, serverInfo={"name": "raw", "version": "1"}
        )


def answer(way: str, asked: Any) -> None:
    method, of = asked.get("method"), asked.get("id")
    if method == "initialize":
        for each in opened(way, of):
            write(each)
    elif method == "tools/list":
        write(result(of, **page(way, asked)))
    elif method == "tools/call":
        CALLS.get(way, does_well)(of)
    elif of is not None:
        write(message(id=of, error={"code": -32601, "message": "Method not found"}))


def main(way: str) -> None:
    if way == "dies_at_start":
        sys.exit(3)
    for line in sys.stdin:
        answer(way, json.loads(line))


if __name__ == "__main__":
    main(sys.argv[1])
