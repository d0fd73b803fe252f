"""Acts of control in PostgreSQL, each a batch of its own: versions, policies, checkpoints, keys, retention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from interlock.core.chain import Head
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark
from interlock.core.errors import StoreError
from interlock.core.journal import Event
from interlock.core.key_mark import KeyMark
from interlock.core.lifecycle import Lifecycle
from interlock.core.policy import Mode, PolicySource
from interlock.ports import Registered
from interlock.store.postgres_arrays import blobs, texts
from interlock.store.postgres_line import Line, Row, Step
from interlock.store.postgres_sheet import Sheet
from interlock.store.rows import read_checkpoint, write_checkpoint
from interlock.store.rules import checked_version

RUNS_AT_ONCE: Final = 100
"""How many runs one transaction drops."""


@dataclass(frozen=True, slots=True)
class Publishing:
    """Insert or move versions as one change; the new epoch, which is the old one where nothing changed."""

    found: tuple[Registered, ...]
    event: Event

    async def carry_out(self, line: Line, sheet: Sheet) -> int:
        _, ((epoch,),), rows = await line.trip(("change_epoch", ()), ("select_epoch", ()), stored_of(self.found))
        changed = await put_versions(line, self.found, rows=rows, epoch=epoch + 1)
        return await finish(line, sheet, epoch=epoch + changed, event=self.event)


def stored_of(found: tuple[Registered, ...]) -> Step:
    """The step that reads those of the versions that are stored."""
    return "select_some_versions", _version_columns(list(found))[:4]


async def put_versions(line: Line, found: tuple[Registered, ...], *, rows: list[Row], epoch: int) -> bool:
    """Insert or move versions within a change that leads to that epoch; whether that changed any.

    `rows` are those of them that are stored.
    """
    stored = {_name_of(each): each for each in map(read_version, rows)}
    changed: dict[tuple[str, ...], Registered] = {}
    for each in found:
        # Guarded one by one: the same version may come twice, with two digests.
        if checked_version(each, stored=stored.get(_name_of(each))):
            changed[_name_of(each)] = stored[_name_of(each)] = each
    if changed:
        await line.trip(("upsert_versions", (epoch, *_version_columns(list(changed.values())))))
    return bool(changed)


@dataclass(frozen=True, slots=True)
class SavingPolicies:
    """Replace all sources of the tenants named in `sources`; the new epoch."""

    sources: tuple[PolicySource, ...]
    event: Event

    async def carry_out(self, line: Line, sheet: Sheet) -> int:
        _, ((epoch,),), rows = await line.trip(("change_epoch", ()), ("select_epoch", ()), ("select_policies", ()))
        tenants, stored = {each.tenant for each in self.sources}, set(map(read_policy, rows))
        new = set(self.sources)
        changed = new != {each for each in stored if each.tenant in tenants}
        if changed:
            sources = sorted(new, key=_place)
            columns = (
                texts([each.name for each in sources]),
                texts([each.text for each in sources]),
                texts([each.mode for each in sources]),
                texts([each.tenant for each in sources]),
            )
            await line.trip(("delete_policies", (texts(sorted(tenants)),)), ("insert_policies", columns))
        return await finish(line, sheet, epoch=epoch + changed, event=self.event)


async def finish(line: Line, sheet: Sheet, *, epoch: int, event: Event) -> int:
    """End a change with its event; the epoch that it leads to."""
    await line.trip(("update_epoch", (epoch,)))
    sheet.append(event)
    return epoch


@dataclass(frozen=True, slots=True)
class CheckpointDrawing:
    """Write the checkpoint that `draw` makes of the heads at this moment and the last mark."""

    draw: Callable[[tuple[Head, ...], Mark], Checkpoint]

    async def carry_out(self, line: Line, sheet: Sheet) -> Checkpoint:
        _, last, chains = await line.trip(
            ("lock_checkpoints", ()), ("select_last_checkpoint", ()), ("select_chains", ())
        )
        mark = read_checkpoint(last[0][0]).mark if last else BEGINNING
        drawn = self.draw(read_heads(chains), mark)
        await line.trip(("insert_checkpoint", (drawn.number, write_checkpoint(drawn))))
        return drawn


@dataclass(frozen=True, slots=True)
class KeepingKeys:
    """Remember these keys, unless there are some already; the mark that the store has from now on."""

    mark: KeyMark

    async def carry_out(self, line: Line, sheet: Sheet) -> KeyMark:
        given = (self.mark.fingerprint, self.mark.check)
        _, kept = await line.trip(("insert_keys", given), ("select_keys", ()))
        if not kept:
            raise StoreError("the store does not keep the mark of its keys")
        return KeyMark(*kept[0])


@dataclass(frozen=True, slots=True)
class RecordPurging:
    """Forget what was kept whole in one stretch of a chain."""

    before_us: int
    first: int
    last: int

    async def carry_out(self, line: Line, sheet: Sheet) -> None:
        await line.trip(("purge_records", (self.first - 1, self.last, self.before_us)))


@dataclass(frozen=True, slots=True)
class CallPurging:
    """Do what a query does to one stretch of calls; where the stretch ends, and nothing where no call is left."""

    query: str
    before_us: int
    after: bytes
    rows_max: int

    async def carry_out(self, line: Line, sheet: Sheet) -> bytes | None:
        values: dict[str, object] = {"after": self.after, "limit": self.rows_max, "before_us": self.before_us}
        (rows,) = await line.trip((self.query, values))
        return bytes(rows[0][0]) if rows else None


@dataclass(frozen=True, slots=True)
class Purging:
    """Forget some of the rest that was kept whole; whether there may be more."""

    before_us: int
    windows_before_us: int
    rows_max: int

    async def carry_out(self, line: Line, sheet: Sheet) -> bool:
        values: dict[str, object] = {"before_us": self.before_us, "limit": self.rows_max}
        counted = await line.count(
            ("drop_approvals", values),
            ("purge_usage", (self.windows_before_us,)),
            ("purge_closings", ()),
            ("drop_compensated", ()),
            ("drop_plans", (self.before_us,)),
        )
        return counted[0] == self.rows_max


@dataclass(frozen=True, slots=True)
class RunPurging:
    """Forget some of what happened in runs that are over, then some of the runs; whether there may be more."""

    before_us: int
    rows_max: int

    async def carry_out(self, line: Line, sheet: Sheet) -> bool:
        values: dict[str, object] = {"before_us": self.before_us, "runs": RUNS_AT_ONCE}
        (entries,) = await line.count(("drop_run_entries", {**values, "limit": self.rows_max}))
        if entries == self.rows_max:
            return True
        (runs,) = await line.count(("drop_runs", values))
        return runs == RUNS_AT_ONCE


def read_heads(rows: list[Row]) -> tuple[Head, ...]:
    """Where every chain stands that has a record."""
    return tuple(Head(name, sequence, digest.hex()) for _, name, sequence, digest in rows if sequence)


def read_version(row: Row) -> Registered:
    """A row of `select_versions` and its like."""
    tenant, source, name, version, digest, state, spec, retirement = row
    return Registered(tenant, source, name, version, digest, Lifecycle(state), spec, retirement)


def read_policy(row: Row) -> PolicySource:
    """A row of `select_policies`."""
    name, text, mode, tenant = row
    return PolicySource(name, text, Mode(mode), tenant)


def _version_columns(rows: list[Registered]) -> tuple[object, ...]:
    return (
        texts([each.tenant for each in rows]),
        texts([each.source for each in rows]),
        texts([each.name for each in rows]),
        texts([each.version for each in rows]),
        texts([each.digest for each in rows]),
        texts([each.state for each in rows]),
        blobs([each.spec for each in rows]),
        texts([each.retirement for each in rows]),
    )


def _name_of(each: Registered) -> tuple[str, ...]:
    return each.tenant, each.source, each.name, each.version


def _place(each: PolicySource) -> tuple[str, str]:
    return each.tenant, each.name
