"""Backs stores up, proves copies, restores and moves them: wires files, keys and the proof for whoever has no gate."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from interlock.assemble import PLAIN, Gate, Host
from interlock.core.audit_log import LogReading, Verified
from interlock.core.call import Principal
from interlock.core.chain import Break
from interlock.core.errors import BackupInvalid, KeyInvalid, SettingsInvalid, StoreError
from interlock.core.frozen import frozen
from interlock.core.journal import EventKind
from interlock.core.key_mark import key_mark
from interlock.core.redaction import Redactor
from interlock.core.signing import fingerprint
from interlock.core.tool import SHARED
from interlock.keys import Keys, KeySigner, read_key_file
from interlock.ports import Signer
from interlock.proving import provers_of
from interlock.runtime.acts import only_operators
from interlock.runtime.audit import AuditDesk
from interlock.runtime.proof import prove
from interlock.runtime.records import Records
from interlock.settings import Publish, Settings
from interlock.store.backup import back_up
from interlock.store.backup_file import Placed, Tell, untold
from interlock.store.backup_read import ClosedDb, ClosedLog, Found, inspected
from interlock.store.backup_restore import Fill, copied, restore
from interlock.store.backup_state import StoreState, state_of
from interlock.store.dump import dump, load
from interlock.store.move import move
from interlock.store.seal import NoSeal, Seal
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy
from interlock.system import SystemClock, SystemEntropy

__all__ = [
    "Backup",
    "Moved",
    "Placed",
    "Restored",
    "State",
    "back_up_open",
    "create_backup",
    "dump_store",
    "load_store",
    "move_store",
    "move_store_to_postgres",
    "restore_backup",
    "store_state",
    "verify_backup",
]

State: TypeAlias = StoreState

BRANCH_BYTES = 4


@frozen
class Backup:
    """What a backup holds, and what its log was shown to hold."""

    found: Found
    log: Verified


@frozen
class Restored:
    """A store made of a backup. `voided` counts the questions and unused grants that are not good in it."""

    file: Placed
    backup: Backup
    voided: int
    branch: str


@frozen
class Moved:
    """Where everything in a store is now (no password), what its log was shown to hold there, and its key file."""

    place: str
    log: Verified
    key: Path


@dataclass(frozen=True, slots=True)
class _Trust:
    """What proves a backup: its keys, who signs with them, and what opens what is sealed in it."""

    keys: Keys
    signer: Signer
    seal: Seal
    seal_key: bytes | None


async def create_backup(store: Path, target: Path, *, tell: Tell = untold) -> Placed:
    """Copy a store, while it is used, to a new file. Raises `StoreError`, and leaves nothing under that name then."""
    copy = Copy(_new_branch(), SystemClock().now_us())
    return await asyncio.to_thread(back_up, store, target, copy=copy, tell=tell)


async def back_up_open(
    audit: AuditDesk, store: object, target: Path, *, by: Principal, tell: Tell | None = None
) -> Placed:
    """The same of a store that a gate has open, put on record there with the digest of the file."""
    if not isinstance(store, SqliteStore):
        raise StoreError("only a store in a SQLite file is copied so; a database server has its own tools")
    await audit.sign()  # so that what is copied is signed to its end, or nearly
    made = await create_backup(store.path, target, tell=tell or untold)
    record = {"subject": "store", "file": target.name, "size_bytes": made.size_bytes, "sha256": made.sha256}
    await audit.act(EventKind.BACKED_UP, record, by=by)
    return made


async def store_state(store: Path) -> State:
    """How a store stands, read from the side while it is used."""
    return await asyncio.to_thread(state_of, store)


async def verify_backup(file: Path, *, host: Host = PLAIN) -> Backup:
    """Prove a backup, with the keys of `host` (default: the key file beside the backup). Changes nothing.

    Raises `BackupInvalid` where it does not hold, `StoreNewer`, or `KeyInvalid`.
    """
    return await asyncio.to_thread(_proved, file, _trust(host, file))


async def restore_backup(file: Path, to: Path, *, by: Principal, host: Host = PLAIN, tell: Tell = untold) -> Restored:
    """Make a store of a backup where there is none: prove the copy, put it there, and put that on record in it.

    `host` has the keys (default: the key file beside the new store, else beside the backup). The tenant of `by` is
    taken for the installation's own. Raises `ActRefused`, `StoreError`, `BackupInvalid` or `KeyInvalid`, and has
    changed nothing then.
    """
    return await _made(to, partial(copied, file, tell=tell), of=file, host=host, by=by)


async def dump_store(store: Path, target: Path, *, tell: Tell = untold) -> Placed:
    """Write everything that a store keeps as lines of JSON, at one moment. Raises `StoreError` as a backup does."""
    made, _ = await asyncio.to_thread(dump, store, target, tell=tell)
    return made


async def load_store(file: Path, to: Path, *, by: Principal, host: Host = PLAIN) -> Restored:
    """Make a store of a dump, as `restore_backup` does of a backup: it is a copy too."""

    def fill(draft: Path) -> None:
        with file.open("rb") as lines:
            load(lines, draft)

    return await _made(to, fill, of=file, host=host, by=by)


async def move_store(source: Path, to: Path, *, by: Principal, host: Host = PLAIN, tell: Tell = untold) -> Placed:
    """Move everything in a store that nobody has open to a new file, chains and all; the old one opens no more.

    `host` has the keys (default: the key file beside the old store); the new one needs its key file beside it. Raises
    `ActRefused`, `StoreError`, `BackupInvalid` or `KeyInvalid`, and leaves the store where it was then.
    """
    only_operators(by, "Moving", tenants={SHARED}, home=by.tenant)
    trust, now_us = _trust(host, source), SystemClock().now_us()

    def check(draft: Path) -> None:
        _proved(draft, trust)

    made, _ = await asyncio.to_thread(move, source, to, at_us=now_us, check=check, tell=tell)
    record = {"subject": "store", "from": str(source), "to": str(made.path)}
    await _record(made.path, EventKind.STORE_MOVED, record, by=by, host=_same(host, trust))
    return made


async def move_store_to_postgres(
    source: Path, url: str, *, by: Principal, host: Host = PLAIN, tell: Tell = untold
) -> Moved:
    """The same into an empty PostgreSQL database, whose log is proved there once more.

    Its key file belongs into the working directory of whoever opens it, under the database's name. Raises
    what `move_store` does; where the commit is not answered, the same call again says whether everything has arrived.
    """
    try:
        from interlock.store.move_postgres import make_tables, move_to_postgres
        from interlock.store.postgres_line import database_of, shown
    except ModuleNotFoundError as missing:
        raise SettingsInvalid("a PostgreSQL store needs psycopg: pip install 'interlock[postgres]'") from missing

    only_operators(by, "Moving", tenants={SHARED}, home=by.tenant)
    trust, now_us = _trust(host, source), SystemClock().now_us()

    def check(store: Path) -> None:
        _proved(store, trust)

    await make_tables(url)
    await asyncio.to_thread(move_to_postgres, source, url, at_us=now_us, check=check, tell=tell)
    settings = Settings(tenant=by.tenant, publish=Publish.NOTHING)
    async with Gate.open(url, settings=settings, host=_same(host, trust)) as gate:
        record = {"subject": "store", "from": str(source), "to": shown(url)}
        await gate.audit.act(EventKind.STORE_MOVED, record, by=by)
        proved = await gate.audit.verify()
    if isinstance(proved, Break):
        raise BackupInvalid(f"everything was moved, and the log does not hold there: {proved.sentence}")
    return Moved(shown(url), proved, Path(f"{database_of(url)}.key"))


async def _made(to: Path, fill: Fill, *, of: Path, host: Host, by: Principal) -> Restored:
    """A store of a copy, whichever way the copy comes."""
    only_operators(by, "Restoring", tenants={SHARED}, home=by.tenant)
    trust, branch, proved = _trust(host, to, of), _new_branch(), list[Backup]()

    def check(draft: Path) -> Copy:
        proved.append(_proved(draft, trust))
        taken = proved[0].found.copy
        return Copy(branch, 0 if taken is None else taken.taken_us, SystemClock().now_us())

    placed, voided = await asyncio.to_thread(restore, to, fill=fill, check=check)
    found = proved[0].found
    record = {"subject": "store", "branch": branch, "voided": voided, "last_us": found.last_us}
    if found.copy is not None:
        record |= {"taken_us": found.copy.taken_us, "taken_as": found.copy.branch}
    await _record(to, EventKind.RESTORED, record, by=by, host=_same(host, trust))
    return Restored(placed, proved[0], voided, branch)


async def _record(store: Path, kind: EventKind, record: Mapping[str, object], *, by: Principal, host: Host) -> None:
    """The first record of what was made."""
    settings = Settings(tenant=by.tenant, publish=Publish.NOTHING)
    async with Gate.open(store, settings=settings, host=host) as gate:
        await gate.audit.act(kind, record, by=by)


def _same(host: Host, trust: _Trust) -> Host:
    return Host(keys=trust.keys, signer=host.signer, seal=host.seal)


def _new_branch() -> str:
    return SystemEntropy().bytes(BRANCH_BYTES).hex()


def _trust(host: Host, *stores: Path) -> _Trust:
    keys = host.keys or _keys_beside(stores)
    seal = NoSeal() if host.seal is None else AesSeal(host.seal, random=SystemEntropy().bytes)
    return _Trust(keys, host.signer or KeySigner(keys.signing), seal, host.seal)


def _keys_beside(stores: tuple[Path, ...]) -> Keys:
    files = [Path(f"{store}.key") for store in stores]
    found = next((file for file in files if file.exists()), None)
    if found is None:
        raise KeyInvalid(f"a backup is proved with the key of its store, and there is no {files[0]}")
    return read_key_file(found)


def _proved(file: Path, trust: _Trust) -> Backup:
    """Runs in a thread of its own: reading all of a store takes its time."""
    found = inspected(file)
    _refuse_other(found, trust)
    with closing(ClosedDb(file, seal=trust.seal)) as db:
        records = Records(trust.keys.master, clock=SystemClock(), entropy=SystemEntropy(), redactor=Redactor())
        reading = LogReading(frozenset({trust.signer.public_key()}))
        provers = provers_of(str(file.absolute()), master=trust.keys.master, seal=trust.seal_key, closed=True)
        log = asyncio.run(prove(ClosedLog(db), reading, records=records, provers=provers))
    if isinstance(log, Break):
        raise BackupInvalid(f"the audit log in it does not hold: {log.sentence}")
    return Backup(found, log)


def _refuse_other(found: Found, trust: _Trust) -> None:
    own = fingerprint(trust.signer.public_key())
    if found.keys is not None and found.keys.fingerprint != own:
        raise KeyInvalid(f"the backup was signed by the key {found.keys.fingerprint}; the one at hand is {own}")
    if found.keys is not None and found.keys != key_mark(own, master=trust.keys.master):
        raise KeyInvalid("the backup was written with another master key than the one at hand")
