"""A store is made of a backup only where there is none, and only of one that was found good."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from interlock.core.errors import NotWritten
from interlock.store.backup import back_up
from interlock.store.backup_file import measured
from interlock.store.backup_restore import copied, refuse_used, restore
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import Values

values = Values()


def good(draft: Path) -> Copy:
    assert draft.exists()
    return Copy("restored", 5, 7)


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """A backup of a store with one claimed call and one question."""
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await store.claim(values.intent("k"))
    await store.ask(values.asking("other"))
    back_up(store.path, tmp_path / "b", copy=Copy("backup", 5))
    await store.close()
    return tmp_path / "b"


@pytest.mark.requirement("AUD-2", "IDEM-3")
async def test_it_opens_with_what_it_had_and_goes_on_in_chains_of_its_own(file: Path) -> None:
    target = file.with_name("c.db")
    told = list[tuple[int, int]]()
    made, voided = restore(target, fill=partial(copied, file, tell=lambda *each: told.append(each)), check=good)
    assert (made.path, voided) == (target, 1)
    assert told[-1][0] == told[-1][1] == measured(file)[0]
    store = await SqliteStore.open(target, chain="main")
    (call,) = await store.open_calls()
    assert call.orphaned
    assert await store.take_over(call, values.event()) is not None
    assert {head.chain for head in await verified(store)} == {"main", "main~restored"}
    await store.close()


async def test_what_is_not_good_changes_nothing(file: Path) -> None:
    def bad(draft: Path) -> Copy:
        raise ValueError(str(draft))

    names = sorted(each.name for each in file.parent.iterdir())
    with pytest.raises(ValueError, match="part"):
        restore(file.with_name("c.db"), fill=partial(copied, file), check=bad)
    assert sorted(each.name for each in file.parent.iterdir()) == names


async def test_a_place_that_is_taken_or_was_a_moment_ago_is_refused(file: Path) -> None:
    target = file.with_name("a.db")
    with pytest.raises(NotWritten, match="exists already"):
        restore(target, fill=partial(copied, file), check=good)
    store = await SqliteStore.open(target, chain="main")
    with pytest.raises(NotWritten, match="has the store"):
        restore(target, fill=partial(copied, file), check=good)
    await store.append(values.event())
    target.rename(file.with_name("away.db"))
    with pytest.raises(NotWritten, match="would be mixed"):
        restore(target, fill=partial(copied, file), check=good)
    for each in ("a.db-wal", "a.db-shm"):
        file.with_name(each).rename(file.with_name(f"away-{each}"))
    with pytest.raises(NotWritten, match="has the store"):
        refuse_used(target)
    await store.close()
    refuse_used(target)


@pytest.mark.parametrize("moment", ["check", "copy"])
async def test_whoever_takes_the_place_meanwhile_keeps_it(file: Path, moment: str) -> None:
    target = file.with_name("c.db")

    def take(*_: object) -> None:
        target.write_text("theirs")

    def check(draft: Path) -> Copy:
        take()
        return good(draft)

    kinds: dict[str, tuple[Callable[[Path], Copy], Callable[[int, int], None]]]
    kinds = {"check": (check, lambda *_: None), "copy": (good, take)}
    with pytest.raises(NotWritten, match="exists already"):
        restore(target, fill=partial(copied, file, tell=kinds[moment][1]), check=kinds[moment][0])
    assert target.read_text() == "theirs"
