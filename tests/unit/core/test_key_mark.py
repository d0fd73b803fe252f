"""Key marks: another key is told from the one that a store knows, and neither can be read from its mark."""

import pytest

from interlock.core.key_mark import key_mark

MASTER = b"m" * 32


@pytest.mark.requirement("AUD-2")
def test_the_mark_differs_with_either_key_and_holds_no_secret() -> None:
    mark = key_mark("f1", master=MASTER)
    assert mark == key_mark("f1", master=MASTER)
    assert mark != key_mark("f2", master=MASTER)
    assert mark != key_mark("f1", master=b"n" * 32)
    assert MASTER.hex() not in mark.check
