"""What other processes prove ahead changes nothing in what is found: the first break, in the same words."""

import shutil
from collections.abc import AsyncGenerator, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from interlock import Host, Keys
from interlock.core.audit_log import LogReading, Verified
from interlock.core.chain import Break, Head, Stretch
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark, Span, draw_up
from interlock.core.redaction import Redactor
from interlock.core.signing import fingerprint
from interlock.keys import KeySigner
from interlock.runtime import proof
from interlock.runtime.proof_ahead import planned
from interlock.runtime.records import Records
from interlock.store.log_reading import sqlite_log
from interlock.store.seal import NoSeal
from interlock.system import SystemClock, SystemEntropy
from tests.gates import ALICE, Shelf, opened, save, search

KEYS = Keys.random()
RECORDS = Records(KEYS.master, clock=SystemClock(), entropy=SystemEntropy(), redactor=Redactor())
TRUSTED = KeySigner(KEYS.signing).public_key()

DAMAGES = {
    "a body": "update audit set body = cast(body || ' ' as blob) where place = ?",
    "a hash": "update audit set hash = zeroblob(32) where place = ?",
    "a payload": "update audit set record = cast(substr(record, 1, length(record) - 1) || ']' as blob) where place = ?",
    "a blank": "update audit set record = null where place = ?",
    "a column": "update audit set kind = 'call.replayed' where place = ?",
    "a call": "update audit set call = call || 'x' where place = ?",
    "a gap": "delete from audit where place = ?",
    "an end": "delete from audit where place >= ?",
    "a fork": "update audit set hash = coalesce((select hash from audit as a where a.place = audit.place - 1), x'00') "
    "where place = ?",
    "a move": "update audit set place = place + 1000 where place = ?",
}


class Ahead:
    """Proves as other processes do, in this one; counts what came of it."""

    def __init__(self, log: proof.Log) -> None:
        self.log = log
        self.held = self.whole = 0

    async def prove(
        self, spans: Iterable[Span], *, held: tuple[Head, ...]
    ) -> AsyncGenerator[tuple[Span, Stretch | None], None]:
        for span in spans:
            found = await proof.stretch_of(self.log, span, held=held, records=RECORDS)
            self.whole += found is not None
            yield span, found


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of two pages of two records."""
    for name, value in (("PAGE", 2), ("PIECE_PAGES", 2), ("APART_FROM", 1)):
        monkeypatch.setattr(proof, name, value)


@pytest.fixture
async def file(tmp_path: Path, small: None) -> Path:
    """A log of two chains, with checkpoints in between and a rest that none covers."""
    path, tools, host = tmp_path / "gate.db", Shelf().tools, Host(keys=KEYS)
    async with opened(str(path), tools, host=host) as one, opened(str(path), tools, None, host=host) as other:
        for number in range(4):
            for gate in (one, other, one):
                await gate.call(search(str(number)), principal=ALICE)
            await other.call(save(f"n{number}", "long" * 1_000), principal=ALICE, task="t")
            if number % 2 == 0:
                await one.audit.checkpoint()
    with closing(apsw.Connection(str(path))) as database:
        database.execute("delete from checkpoints where number > 2")
        database.pragma("wal_checkpoint")
    return path


async def reports(
    file: Path, *outside: Head | Mark, keys: frozenset[bytes] = frozenset({TRUSTED})
) -> tuple[Verified | Break, int]:
    """What is found, which is the same both ways, and how many pieces were passed over as whole."""
    with sqlite_log(file, seal=NoSeal(), closed=True) as log:
        alone = await proof.prove(log, LogReading(keys, outside=outside), records=RECORDS)
        ahead = Ahead(log)
        shared = await proof.prove(log, LogReading(keys, outside=outside), records=RECORDS, provers=ahead)
    assert alone == shared
    return shared, ahead.whole


def places(file: Path) -> list[int]:
    with closing(apsw.Connection(str(file))) as database:
        return [place for (place,) in database.execute("select place from audit order by place")]


def with_damage(file: Path, damage: str, place: int) -> Path:
    copy = file.with_name(f"{file.stem}-{place}.db")
    shutil.copy(file, copy)
    with closing(apsw.Connection(str(copy))) as database:
        database.execute(damage, (place,))
    return copy


@pytest.mark.requirement("AUD-2")
async def test_a_whole_log_is_proved_the_same_and_nearly_all_of_it_ahead(file: Path) -> None:
    found, whole = await reports(file)
    assert isinstance(found, Verified)
    assert found.records == len(places(file))
    assert 0 < found.unsigned < found.records
    assert whole >= found.records // 4


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_break_is_found_and_named_alike_wherever_it_is(file: Path, damage: str) -> None:
    breaks = 0
    for place in places(file):
        found, _ = await reports(with_damage(file, DAMAGES[damage], place))
        breaks += isinstance(found, Break)
    assert breaks == len(places(file))


@pytest.mark.requirement("AUD-2")
async def test_of_two_breaks_the_first_is_named(file: Path) -> None:
    first, *_, last = places(file)
    found, _ = await reports(with_damage(with_damage(file, DAMAGES["a body"], last), DAMAGES["a payload"], first))
    assert isinstance(found, Break)
    second, _ = await reports(with_damage(file, DAMAGES["a payload"], first))
    assert found == second


@pytest.mark.requirement("AUD-2")
async def test_heads_held_outside_count_wherever_they_lie(file: Path) -> None:
    with sqlite_log(file, seal=NoSeal(), closed=True) as log:
        heads = [each.record.head for page in [page async for page in proof.pages(log)] for each in page
                 if not isinstance(each, Checkpoint)]  # fmt: skip
        checkpoints = await log.checkpoints()
    found, whole = await reports(file, *heads, *(each.mark for each in checkpoints))
    assert isinstance(found, Verified)
    assert whole
    for head in heads:
        found, _ = await reports(file, replace(head, hash="0" * 64))
        assert isinstance(found, Break)
        assert (found.chain, found.sequence) == (head.chain, head.sequence)
    beyond = replace(heads[0], sequence=heads[0].sequence + 10_000)
    assert isinstance((await reports(file, beyond))[0], Break)


@pytest.mark.requirement("AUD-2")
async def test_a_key_that_is_not_trusted_is_found_whatever_was_proved(file: Path) -> None:
    other = KeySigner(Keys.random().signing).public_key()
    assert isinstance((await reports(file, keys=frozenset({other})))[0], Break)


@pytest.mark.requirement("AUD-2")
async def test_a_stretch_that_begins_elsewhere_is_not_believed(file: Path) -> None:
    class Wrong(Ahead):
        async def prove(
            self, spans: Iterable[Span], *, held: tuple[Head, ...]
        ) -> AsyncGenerator[tuple[Span, Stretch | None], None]:
            async for span, found in super().prove(spans, held=held):
                yield span, found and replace(found, start=replace(found.start, hash="0" * 64))

    damaged = with_damage(file, DAMAGES["a body"], places(file)[-1])
    for each, kind in ((file, Verified), (damaged, Break)):
        with sqlite_log(each, seal=NoSeal(), closed=True) as log:
            reading = LogReading(frozenset({TRUSTED}))
            assert isinstance(await proof.prove(log, reading, records=RECORDS, provers=Wrong(log)), kind)


def test_what_is_planned_is_all_of_the_log_in_order() -> None:
    ends = [Head("a", 5, "0" * 64), Head("b", 2, "0" * 64)]
    checkpoint = draw_up([ends[0]], after=BEGINNING, time_us=0, key_fingerprint=fingerprint(TRUSTED))
    later = [replace(ends[0], sequence=7), ends[1]]
    spans = [(each.chain, each.after, each.through) for each in planned((checkpoint,), later, size=4)]
    assert spans == [("a", 0, 4), ("a", 4, 5), ("a", 5, 7), ("b", 0, 2)]
    odd = replace(checkpoint, heads=(replace(ends[0], sequence="5"),))  # type: ignore[arg-type]  # as somebody wrote it
    assert list(planned((odd,), later, size=4)) == []
