"""A program that fills the small disk it is given, at several points of a call, and says as JSON what came of it."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from interlock import Gate, ToolCall
from interlock.core.audit_log import Verified
from interlock.core.errors import StoreFull
from tests.gates import ALICE, ALL, Shelf, code, opened, save, search

TEXT = "abcd" * 2_000


async def said(gate: Gate, call: ToolCall) -> str:
    """What a caller hears, who may be told that the disk is full."""
    try:
        return code(await gate.call(call, principal=ALICE, task="fill"))
    except StoreFull as full:
        return str(full)


async def fill(path: Path, shelf: Shelf, told: list[str]) -> ToolCall:
    """Save until the disk is full; the call that could not be answered."""
    calls = (save(f"n{number}", TEXT, id=f"c{number}") for number in range(1_000))
    try:
        async with opened(str(path), shelf.tools, ALL) as gate:
            last = await anext(call for call in calls if (await keep(told, said(gate, call))) != "ok")
            told += [await said(gate, call) for call in (search(), save("later"))]
    except StoreFull as full:  # nothing can be signed either
        told.append(str(full))
    return last


async def keep(told: list[str], saying: Coroutine[None, None, str]) -> str:
    """The same, remembered where it is no success."""
    words = await saying
    told += [] if words == "ok" else [words]
    return words


async def tried(folder: Path, ballast_bytes: int) -> dict[str, Any]:
    """One disk that is full after some saves, and has room again later."""
    path, ballast, shelf = folder / "gate.db", folder / "ballast", Shelf()
    ballast.write_bytes(b"x" * ballast_bytes)
    told: list[str] = []
    last = await fill(path, shelf, told)
    searched, before = len(shelf.searched), len(shelf.saved)
    with (folder / "rest").open("wb", buffering=0) as rest, suppress(OSError):  # until not a byte is left
        while rest.write(b"x" * 512):
            continue
    still = [await opening(each, shelf) for each in (path, folder / "other.db")]
    ballast.unlink()
    (folder / "rest").unlink()
    async with opened(str(path), shelf.tools, ALL) as gate:
        holds = isinstance(await gate.audit.verify(), Verified)
        again = code(await gate.call(last, principal=ALICE, task="fill"))
        new = code(await gate.call(save("room", TEXT, id="room"), principal=ALICE, task="fill"))
        read = code(await gate.call(search(), principal=ALICE))
    notes = [note for note, _ in shelf.saved]
    return {
        "told": told,
        "searched": searched,
        "still": still,
        "before": before,
        "holds": holds,
        "again": again,
        "new": [new, read],
        "twice": [note for note in set(notes) if notes.count(note) > 1],
    }


async def opening(path: Path, shelf: Shelf) -> str:
    """What opening it says while there is no room."""
    try:
        async with opened(str(path), shelf.tools, ALL) as gate:
            return code(await gate.call(save("full"), principal=ALICE, task="fill"))
    except StoreFull as full:
        return str(full)


def empty(folder: Path) -> None:
    for each in folder.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()


async def main(folder: Path) -> None:
    """Try it with room for one save more each time, in small steps, so that every point of a call is met."""
    for step in range(5):
        empty(folder)
        sys.stdout.write(json.dumps(await tried(folder, 500_000 + step * 20_000)) + "\n")


if __name__ == "__main__":
    os.umask(0o077)
    asyncio.run(main(Path(sys.argv[1])))
