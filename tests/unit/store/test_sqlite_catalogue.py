"""The catalogue in SQLite: a change that is refused half-way leaves nothing."""

from dataclasses import replace

import pytest

from interlock.core.errors import VersionExists
from interlock.store import sqlite_catalogue
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import Values

values = Values()


def test_the_same_version_twice_in_one_change_with_two_digests_is_refused(desk: Desk) -> None:
    one = values.registered("a")
    with pytest.raises(VersionExists):
        sqlite_catalogue.publish(desk, found=(one, replace(one, digest="2" * 64)), event=values.event())
    assert (desk.epoch, desk.chain.head.sequence) == (0, 0)


def test_the_epoch_is_on_the_disk_with_the_change(desk: Desk) -> None:
    assert sqlite_catalogue.publish(desk, found=(values.registered("a"),), event=values.event()) == 1
    assert (desk.epoch, sqlite_catalogue.epoch(desk.db)) == (1, 1)


def test_saving_no_policies_changes_nothing(desk: Desk) -> None:
    assert sqlite_catalogue.save_policies(desk, sources=(), event=values.event()) == 0
