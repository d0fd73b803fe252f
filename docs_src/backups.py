"""Backups: copy a store while it is used, prove the copy, make a store of it, and see what is void in it."""

import asyncio
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from interlock import Gate, PolicySource, Principal, ToolCall, tool
from interlock.copies import restore_backup

SAVED: list[str] = []


@tool(effect="write", key=["note"])
async def save(note: str) -> str:
    """Save a note."""
    SAVED.append(note)
    return note


POLICY = PolicySource("eng", '@id("eng") permit(principal in Group::"eng", action, resource);')
alice = Principal("default", "alice", groups=frozenset({"eng"}))
olga = Principal("default", "olga", groups=frozenset({"operator"}))


async def main(folder: Path) -> None:
    """Back up, lose the store, restore."""
    store, backup = folder / "interlock.db", folder / "interlock.backup"
    async with Gate.open(store, tools=[save], policies=[POLICY]) as gate:
        await gate.call(ToolCall("c1", "save", {"note": "before"}), principal=alice, task="t1")
        made = await gate.backup(backup, by=olga)  # calls go on meanwhile; that it was made is on record
        print(made.size_bytes, made.sha256)
        await gate.call(ToolCall("c2", "save", {"note": "after"}), principal=alice, task="t2")

    lost = folder / "restored.db"
    copyfile(f"{store}.key", f"{lost}.key")  # the key is not in the backup: keep a copy of it apart
    restored = await restore_backup(backup, lost, by=olga)
    print(restored.backup.log.sentence)
    print("its own chains end in", restored.branch, "and void in it are", restored.voided)

    async with Gate.open(lost, tools=[save]) as gate:
        again = await gate.call(ToolCall("c3", "save", {"note": "before"}), principal=alice, task="t1")
        assert again.replayed  # the backup knows of it
        twice = await gate.call(ToolCall("c4", "save", {"note": "after"}), principal=alice, task="t2")
        assert not twice.replayed  # it was done after the backup: nothing here can know
    assert SAVED == ["before", "after", "after"]


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        asyncio.run(main(Path(name)))
