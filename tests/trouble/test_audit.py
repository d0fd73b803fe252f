"""Audit logs of others were forked by their own writers, and cut without anyone noticing."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from interlock.core.audit_entry import decode_entry
from interlock.core.audit_log import LogItem, Verified, verify_log
from interlock.core.chain import Break, Damage, Record
from interlock.core.checkpoint import Checkpoint
from tests.audit_samples import KEYS, TIME_US, build_log, plain

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("AUD-2")]

TroubleCase = Callable[[str], Mapping[str, Any]]
Attack = Callable[[list[LogItem]], list[LogItem]]


@pytest.fixture(scope="module")
def log(trouble_case: TroubleCase) -> list[LogItem]:
    """As many writers and events as in the case, taking turns, with a checkpoint at the end."""
    given = trouble_case("AUD-03")["input"]
    writers = [f"writer-{number}" for number in range(given["writers"])]
    return plain(build_log([*(writers * given["events_each"]), "*"]))


def test_interleaved_writers_verify(log: list[LogItem]) -> None:
    found = verify_log(log, keys=KEYS)
    assert isinstance(found, Verified)
    assert found.records == len(log) - 1


def test_the_time_that_is_stored_is_the_time_that_was_hashed(log: list[LogItem]) -> None:
    entries = [decode_entry(item.body) for item in log if isinstance(item, Record)]
    assert [entry.time_us for entry in entries if entry] == list(range(TIME_US, TIME_US + len(log) - 1))


def _edit_one_field(log: list[LogItem]) -> list[LogItem]:
    item = log[100]
    assert isinstance(item, Record)
    return [*log[:100], replace(item, body=item.body.replace(b"call.settled", b"call.refused")), *log[101:]]


def _delete_middle_row(log: list[LogItem]) -> list[LogItem]:
    return [*log[:400], *log[401:]]


def _delete_last_rows(log: list[LogItem]) -> list[LogItem]:
    return [*log[:-11], log[-1]]


def _truncate_all_and_restart(log: list[LogItem]) -> list[LogItem]:
    names = {item.chain: None for item in log if isinstance(item, Record)}
    return plain(build_log([*names, "*"]))


# Taking turns, record 100 is the 13th of writer 4 and record 400 the 51st of writer 0; ten less cut every chain.
ATTACKS: Mapping[str, tuple[Attack, tuple[Damage, str | None, int]]] = {
    "edit one field": (_edit_one_field, (Damage.EDITED, "writer-4", 13)),
    "delete middle row": (_delete_middle_row, (Damage.MISSING, "writer-0", 51)),
    "delete last 10 rows": (_delete_last_rows, (Damage.TRUNCATED, "writer-0", 100)),
    "truncate all and restart": (_truncate_all_and_restart, (Damage.REWRITTEN, None, 1)),
}


def test_every_attack_of_the_case_is_reported_at_its_place(trouble_case: TroubleCase, log: list[LogItem]) -> None:
    checkpoint = log[-1]
    assert isinstance(checkpoint, Checkpoint)
    for name in trouble_case("AUD-03")["input"]["attacks"]:
        attack, place = ATTACKS[name]
        found = verify_log(attack(log), keys=KEYS, outside=(checkpoint.mark,))
        assert isinstance(found, Break), name
        assert (found.what, found.chain, found.sequence) == place


def test_a_log_of_which_nothing_is_left_is_reported(log: list[LogItem]) -> None:
    checkpoint = log[-1]
    assert isinstance(checkpoint, Checkpoint)
    found = verify_log([], keys=KEYS, outside=(checkpoint.mark, *islice(checkpoint.heads, 1)))
    assert isinstance(found, Break)
    assert found.what is Damage.TRUNCATED
