"""What `interlock doctor` says of a store that is a file: its size, what is open, when it was signed and copied."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from interlock.doors.cli.backup import megabytes
from interlock.doors.cli.doctor import GOOD, WANTING, Check
from interlock.doors.cli.shown import counted, moment

if TYPE_CHECKING:
    from interlock.copies import State

LOG_BYTES_MAX: Final = 512_000_000
OPEN_S_MAX: Final = 3_600
COPY_S_MAX: Final = 7 * 86_400


async def store_checks(store: Path) -> tuple[Check, ...]:
    """How the store stands now."""
    from interlock.copies import store_state

    state = await store_state(store)
    now_s = datetime.now(UTC).timestamp()
    return (_size(state), _open(state, now_s=now_s), _signed(state), _copied(state, now_s=now_s))


def _size(state: State) -> Check:
    free = f", {megabytes(state.free_bytes)} of it free" if state.free_bytes else ""
    found = f"{megabytes(state.size_bytes)}{free}, and a log of {megabytes(state.log_bytes)}"
    if state.log_bytes > LOG_BYTES_MAX:
        step = "Something has been reading it for long, such as a shell or a backup: end that, and the log shrinks."
        return Check("store size", WANTING, found, step)
    return Check("store size", GOOD, found)


def _open(state: State, *, now_s: float) -> Check:
    if state.open_since_us is None:
        return Check("open calls", GOOD, "none")
    found = f"{counted(state.open_calls, 'call')}, the oldest since {moment(state.open_since_us)}"
    if now_s - state.open_since_us / 1_000_000 > OPEN_S_MAX:
        return Check(
            "open calls", WANTING, found, "`interlock recover` looks it up; `interlock calls unknown` lists all."
        )
    return Check("open calls", GOOD, found)


def _signed(state: State) -> Check:
    if state.checkpoint_us is None:
        return Check("checkpoint", WANTING, "there is none yet", "`interlock audit head` signs the log.")
    return Check("checkpoint", GOOD, f"the last is of {moment(state.checkpoint_us)}")


def _copied(state: State, *, now_s: float) -> Check:
    step = "`interlock backup create FILE` takes one while the store is used; keep the key apart from it."
    if state.backed_up_us is None:
        return Check("backup", WANTING, "there is none yet", step)
    found = f"the last is of {moment(state.backed_up_us)}"
    is_old = now_s - state.backed_up_us / 1_000_000 > COPY_S_MAX
    return Check("backup", WANTING if is_old else GOOD, found, step if is_old else "")
