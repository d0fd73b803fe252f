"""A full disk is told from other faults, with what to do."""

import apsw
import pytest

from interlock.core.errors import StoreClosed
from interlock.store.full_disk import full_disk


def shared_memory(code: int) -> apsw.IOError:
    fault = apsw.IOError("disk I/O error")
    fault.extendedresult = code
    return fault


@pytest.mark.parametrize(
    "fault", [apsw.FullError("database or disk is full"), shared_memory(apsw.SQLITE_IOERR_SHMSIZE)]
)
def test_a_file_that_cannot_grow_is_told_with_what_to_do(fault: Exception) -> None:
    full = full_disk(fault, "/data/gate.db")
    assert isinstance(full, StoreClosed)
    assert str(full).startswith("the disk of /data/gate.db is full")
    assert "make room there, then open the gate anew" in str(full)


@pytest.mark.parametrize(
    "fault", [apsw.IOError(), shared_memory(apsw.SQLITE_IOERR_FSYNC), apsw.CorruptError("?"), OSError("?")]
)
def test_what_else_goes_wrong_is_no_full_disk(fault: Exception) -> None:
    assert full_disk(fault, "/data/gate.db") is None
