"""The catalogue and the policies in SQLite, with the epoch that rises whenever one of them changes."""

from __future__ import annotations

from itertools import groupby

from interlock.core.journal import Event
from interlock.core.lifecycle import Lifecycle
from interlock.core.policy import Mode, PolicySource
from interlock.ports import Registered
from interlock.store.rules import checked_version
from interlock.store.sqlite_db import Db, Row
from interlock.store.sqlite_desk import Desk


def epoch(db: Db) -> int:
    """The present epoch."""
    row = db.one("select_epoch")
    return 0 if row is None else int(row[0])


def versions(db: Db) -> tuple[int, tuple[Registered, ...]]:
    """The epoch, and every version, oldest first."""
    with db.one_moment():
        return epoch(db), tuple(map(_registered, db.all("select_versions")))


def changes(db: Db, *, since: int) -> tuple[int, tuple[Registered, ...]]:
    """The epoch, and the versions that were published or moved after another."""
    with db.one_moment():
        return epoch(db), tuple(map(_registered, db.all("select_changed_versions", since)))


def policies(db: Db) -> tuple[int, tuple[PolicySource, ...]]:
    """The epoch, and every policy source."""
    with db.one_moment():
        return epoch(db), tuple(map(_policy, db.all("select_policies")))


def publish(desk: Desk, *, found: tuple[Registered, ...], event: Event) -> int:
    """Insert or move versions as one change; the new epoch, which is the old one where nothing changed."""
    return finish(desk, changed=put_versions(desk, found=found), event=event)


def put_versions(desk: Desk, *, found: tuple[Registered, ...]) -> bool:
    """Insert or move versions within a change; whether that changed anything."""
    changed = [each for each in found if checked_version(each, stored=_stored(desk.db, each))]
    for each in changed:
        # Guarded again one by one: the same version may come twice, with two digests.
        checked_version(each, stored=_stored(desk.db, each))
        desk.db.run(
            "upsert_version",
            each.tenant,
            each.source,
            each.name,
            each.version,
            each.digest,
            each.state,
            each.spec,
            each.retirement,
            desk.epoch + 1,
        )
    return bool(changed)


def save_policies(desk: Desk, *, sources: tuple[PolicySource, ...], event: Event) -> int:
    """Replace all sources of the tenants named in `sources`; the new epoch."""
    stored = set(policies(desk.db)[1])
    changed = False
    for tenant, group in groupby(sorted(sources, key=lambda each: each.tenant), key=lambda each: each.tenant):
        own = set(group)
        if own == {each for each in stored if each.tenant == tenant}:
            continue
        changed = True
        desk.db.run("delete_policies", tenant)
        desk.db.run_each("insert_policy", rows=[(each.name, each.text, each.mode, each.tenant) for each in own])
    return finish(desk, changed=changed, event=event)


def finish(desk: Desk, *, changed: bool, event: Event) -> int:
    """End a change with its event; the epoch that it leads to."""
    new = desk.epoch + changed
    if changed:
        desk.db.run("update_epoch", new)
    desk.chain.append(event)
    desk.epoch = new
    return new


def _stored(db: Db, each: Registered) -> Registered | None:
    row = db.one("select_version", each.tenant, each.source, each.name, each.version)
    return None if row is None else _registered(row)


def _registered(row: Row) -> Registered:
    tenant, source, name, version, digest, state, spec, retirement = row
    return Registered(tenant, source, name, version, digest, Lifecycle(state), spec, retirement)


def _policy(row: Row) -> PolicySource:
    name, text, mode, tenant = row
    return PolicySource(name, text, Mode(mode), tenant)
