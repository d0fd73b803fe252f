"""The audit log: read it, sign it, prove it, and let somebody else prove it who has nothing but a file."""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from interlock import (
    AuditQuery,
    Break,
    Deny,
    EventKind,
    Gate,
    PolicySource,
    Principal,
    ToolCall,
    Verified,
    tool,
    verify_export,
)


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look a word up."""
    return word.upper()


POLICY = PolicySource("eng", '@id("eng") permit(principal in Group::"eng", action, resource);')
alice = Principal("acme", "alice", groups=frozenset({"eng"}))
audrey = Principal("acme", "audrey", groups=frozenset({"auditor"}))  # auditors and operators may read the log


async def write(store: Path) -> tuple[bytes, ...]:
    """One call that runs, one that is refused, and the log of both."""
    async with Gate.open(store, tools=[look_up], policies=[POLICY]) as gate:
        await gate.call(ToolCall("c1", "look_up", {"word": "x"}), principal=alice, run="run-1")
        await gate.call(ToolCall("c2", "look_up", {"word": "x"}), principal=audrey, run="run-1")

        found = await gate.audit.query(AuditQuery(kind=EventKind.REFUSED, limit=10), by=audrey)
        if isinstance(found, Deny):
            raise SystemExit(found.message)
        for each in found:
            record = json.loads(each.payloads[0].data)  # redacted; arguments and results that are sealed are not here
            print(each.record.sequence, each.kind, record["principal"], record["code"], record["says"])

        signed = await gate.audit.checkpoint()  # closing the gate signs too
        proved = await gate.audit.verify(outside=(signed.mark,))  # kept elsewhere, a mark shows what is cut off
        if isinstance(proved, Break):
            raise SystemExit(proved.sentence)
        print(proved.sentence, proved.signed)
        for limit in proved.limits:
            print("What this cannot show:", limit)

        lines = await gate.audit.export(by=audrey)
        if isinstance(lines, Deny):
            raise SystemExit(lines.message)
        (store.parent / "fingerprint").write_text(signed.key_fingerprint)  # told by whoever runs the log, not in it
        return lines


def prove(file: Path, fingerprint: str) -> Verified | Break:
    """What an auditor does on another machine."""
    with file.open("rb") as lines:
        return verify_export(lines, fingerprints=frozenset({fingerprint}))


def main() -> None:
    """Write, export, prove; then leave one record out."""
    with TemporaryDirectory() as folder:
        lines = asyncio.run(write(Path(folder, "interlock.db")))
        file, fingerprint = Path(folder, "acme.log"), Path(folder, "fingerprint").read_text()
        file.write_bytes(b"".join(lines))
        assert isinstance(prove(file, fingerprint), Verified)
        file.write_bytes(b"".join(lines[:2] + lines[3:]))  # without one record
        broken = prove(file, fingerprint)
        assert isinstance(broken, Break)
        print(broken.what, broken.sentence)


if __name__ == "__main__":
    main()
