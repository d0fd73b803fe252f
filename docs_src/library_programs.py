"""A program in a sandbox: what it is given, what it may use, what comes out, and what it cannot reach."""

import asyncio
import shutil
from pathlib import Path

from interlock import Code, ErrorContract, Gate, PolicySource, Principal, SandboxLimits, ToolCall, program

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"
HERE = Path.cwd()

COUNT = """
import json, sys, urllib.request

page = json.load(sys.stdin)["page"]
text = open("/in/page").read()
if not text:
    sys.exit(3)
try:
    urllib.request.urlopen("http://example.com", timeout=2)
except OSError:
    print("there is no network", file=sys.stderr)
with open("/out/upper.txt", "w") as upper:
    upper.write(text.upper())
print(json.dumps({"page": page, "words": len(text.split())}))
"""

POLICY = PolicySource("all", '@id("all") permit(principal, action, resource);')

alice = Principal("acme", "alice")


async def main() -> None:
    """Lay out a program and pages, and call it."""
    (HERE / "count.py").write_text(COUNT)
    (HERE / "pages" / "acme").mkdir(parents=True)
    (HERE / "pages" / "acme" / "a.txt").write_text("seven little words")
    (HERE / "pages" / "acme" / "empty.txt").touch()

    count_words = program(
        name="count_words",
        description="Count the words of a page.",
        effect="read",
        command=[PYTHON, "count.py"],  # the file lies in `folder`, and its bytes are part of the tool
        folder=HERE,
        input_schema={
            "type": "object",
            "properties": {"page": {"type": "string"}},
            "required": ["page"],
        },
        files_in={"page": "pages/{tenant}"},  # the argument names a file there; the program reads /in/page
        files_out="counted/{tenant}",  # what it leaves in /out is put there, all at once
        limits=SandboxLimits(cpu_s=5, memory_bytes=256 * 1024 * 1024, processes=4),
        timeout_ms=10_000,
        errors=[ErrorContract("EMPTY", description="There is nothing on that page.")],
        exit_codes={3: "EMPTY"},
    )

    async with Gate.open(tools=[count_words], policies=[POLICY]) as gate:
        seen = await gate.call(ToolCall("c1", "count_words", {"page": "a.txt"}), principal=alice, run="run-1")
        if seen.error is not None and seen.error.code is Code.TOOL_UNAVAILABLE:
            print(seen.error.message)  # no sandbox works on this machine: nothing was run
            return
        assert isinstance(seen.data, dict)
        assert seen.data["result"] == {"page": "a.txt", "words": 3}
        (kept,) = HERE.glob("counted/acme/*/upper.txt")
        assert kept.read_text() == "SEVEN LITTLE WORDS"

        empty = await gate.call(ToolCall("c2", "count_words", {"page": "empty.txt"}), principal=alice, run="run-1")
        assert empty.error is not None
        assert empty.error.details["tool_code"] == "EMPTY"

        other = await gate.call(ToolCall("c3", "count_words", {"page": "../bob/a.txt"}), principal=alice, run="run-1")
        assert other.error is not None
        assert other.error.code is Code.TOOL_ARGUMENT_INVALID

        (HERE / "count.py").write_text(COUNT + "# changed")
        changed = await gate.call(ToolCall("c4", "count_words", {"page": "a.txt"}), principal=alice, run="run-2")
        assert changed.error is not None
        assert changed.error.code is Code.TOOL_UNAVAILABLE  # it is another program than the one that was declared


if __name__ == "__main__":
    asyncio.run(main())
