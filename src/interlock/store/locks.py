"""File locks that the processes on one database meet at: who writes next, who may cache, who is alive.

All are `flock` locks on small files in a folder beside the database. The kernel drops them when a process dies, so
nothing here is ever stale; a forked child keeps its parent's, which is right while it may still be at the parent's
work. They do not work on network file systems.

    turn-next, turn-now   the turnstile that writers pass (a bare BEGIN IMMEDIATE lets one writer starve another)
    mode                  exclusive: this process is the only one (sole); shared: there are others
    bell                  a pipe on which a process that comes asks the sole one to share
    owners/<id>           held for life by the process that is this owner
    chains/<digest>       held for life by the process that writes this audit chain
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from interlock.core.errors import StoreError

PATIENCE_S: Final = 10.0

_RING_S: Final = 0.1
_POLL_S: Final = 0.002
_LOOK_AGAIN_S: Final = 1.0


class FileLock:
    """One lock file, open."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def exclusive(self) -> None:
        """Wait for it, alone."""
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def try_exclusive(self) -> bool:
        """Take it alone if that is possible now. A shared hold that cannot be made exclusive may be lost."""
        return self._try(fcntl.LOCK_EX)

    def try_shared(self) -> bool:
        """Take it with others, or let others in, if that is possible now."""
        return self._try(fcntl.LOCK_SH)

    def release(self) -> None:
        """Let go of it and keep the file open."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of it for good; once closed it stays so."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _try(self, how: int) -> bool:
        try:
            fcntl.flock(self._file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class Turnstile:
    """Lets one writer through at a time, and whoever waited before whoever has just been."""

    def __init__(self, folder: Path) -> None:
        self._next = FileLock(folder / "turn-next")
        self._now = FileLock(folder / "turn-now")

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Holds the turn."""
        self._next.exclusive()
        self._now.exclusive()
        self._next.release()
        try:
            yield
        finally:
            self._now.release()

    def close(self) -> None:
        self._next.close()
        self._now.close()


class Bell:
    """Asks the sole process to share; it hears on an event loop, without polling."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "bell"
        try:
            os.mkfifo(self._path, 0o600)
        except FileExistsError:
            return

    def open(self) -> int:
        """A descriptor that is readable once someone has rung."""
        # Open for writing too, so that the pipe does not end whenever the last one who rang goes.
        return os.open(self._path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def ring(self) -> None:
        """Ask, if anyone is there to hear it."""
        try:
            pipe = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as fault:
            if fault.errno == errno.ENXIO:
                return
            raise
        try:
            os.write(pipe, b"?")
        except BlockingIOError:
            return
        finally:
            os.close(pipe)


class Presence:
    """This process at one database: sole or sharing, alive for as long as it runs."""

    def __init__(self, folder: Path, *, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        for part in (folder, folder / "owners", folder / "chains"):
            part.mkdir(mode=0o700, exist_ok=True)
        self.bell = Bell(folder)
        self.turnstile = Turnstile(folder)
        self.sole = False
        self._shares = False
        self._look_again = 0.0
        self._mode = FileLock(folder / "mode")
        self._folder = folder
        self._held: list[FileLock] = []
        self._owner: int | None = None
        self._life: FileLock | None = None

    def enter(self) -> None:
        """Be sole if nobody else is here, else wait until whoever is sole shares."""
        self.sole = self._mode.try_exclusive()
        if not self.sole:
            self.share()

    def share(self) -> None:
        """Let others in, or be let in. Raises `StoreError` where the sole process does not answer."""
        self.sole = False
        deadline = time.monotonic() + self._patience_s
        ring = 0.0
        while not self._mode.try_shared():
            self._shares = False
            now = time.monotonic()
            if now >= deadline:
                raise StoreError(f"the process that holds the store alone did not answer for {self._patience_s:g} s")
            if now >= ring:
                self.bell.ring()
                ring = now + _RING_S
            time.sleep(_POLL_S)
        self._shares = True

    def refresh(self) -> None:
        """Before a write among others: still be let in, and from time to time see whether the others have gone."""
        if not self.sole and not self._shares:
            self.share()
        now = time.monotonic()
        if self.sole or now < self._look_again:
            return
        self._look_again = now + _LOOK_AGAIN_S
        if not self._others():
            self._shares = False
            self.enter()

    def _others(self) -> bool:
        owners = (int(file.name) for file in (self._folder / "owners").iterdir())
        return any(self.is_alive(owner) for owner in owners if owner != self._owner)

    def take_chain(self, name: str) -> bool:
        """Be the one that writes this chain, unless another process is."""
        lock = FileLock(self._folder / "chains" / sha256(name.encode()).hexdigest()[:32])
        if not lock.try_exclusive():
            lock.close()
            return False
        self._held.append(lock)
        return True

    def be_owner(self, owner: int) -> None:
        """Be alive under this id, which nobody had before."""
        self._life = FileLock(self._folder / "owners" / str(owner))
        self._life.exclusive()
        self._owner = owner

    def sweep(self) -> None:
        """Remove what dead owners left. Only in turn: an owner that has its file but not yet its lock looks dead."""
        for file in (self._folder / "owners").iterdir():
            if not self.is_alive(int(file.name)):
                file.unlink(missing_ok=True)

    def is_alive(self, owner: int) -> bool:
        """Whether the process that is this owner still runs."""
        if owner == self._owner:
            return True
        path = self._folder / "owners" / str(owner)
        if not path.exists():
            return False
        lock = FileLock(path)
        try:
            return not lock.try_exclusive()
        finally:
            lock.close()

    def remain(self) -> None:
        """Be alive under this id until the process ends, whatever is let go of before: work of it goes on."""
        self._life = self._owner = None

    def leave(self) -> None:
        """Let go of everything; the owner's file goes with it."""
        if self._owner is not None:
            (self._folder / "owners" / str(self._owner)).unlink(missing_ok=True)
        for lock in (*self._held, self._mode, self._life):
            if lock is not None:
                lock.close()
        self.turnstile.close()
