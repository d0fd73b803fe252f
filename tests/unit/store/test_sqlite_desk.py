"""What the ops of a SQLite store remember stays within bounds."""

import pytest

from interlock.store import sqlite_desk
from interlock.store.sqlite_desk import Desk


def test_known_keys_are_bounded_and_a_call_without_a_key_adds_none(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_desk, "KEYS_MAX", 3)
    for key in ("k1", "k2", None, "k3", "k3"):
        desk.know_key(key)
    assert desk.keys == {"k3"}
    desk.know_key("k4")
    assert desk.keys == {"k3", "k4"}
