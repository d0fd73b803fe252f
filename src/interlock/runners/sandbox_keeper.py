"""Ends what was being started when the gate's own process is killed.

A sandbox dies with its gate once it stands. In the milliseconds before, bubblewrap does not know yet whom to follow. So
a shell beside the gate keeps the process groups that run; when the gate is gone, its end of a pipe is, and the shell
ends them.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress

_KEEP = """
trap '' HUP INT TERM
held=
while read -r sign group; do
    others=
    for each in $held; do [ "$each" = "$group" ] || others="$others $each"; done
    held=$others
    [ "$sign" = + ] && held="$held $group"
done
for each in $held; do kill -s KILL -- "-$each"; done 2>/dev/null
"""


class Keeper:
    """The shell, started with the first group. Raises `OSError` where it cannot be."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._held: set[int] = set()

    def hold(self, group: int) -> None:
        """From now on this process group ends with the gate."""
        self._held.add(group)
        self._tell(f"+ {group}\n")

    def release(self, group: int) -> None:
        """It has ended, and its number may become another's."""
        self._held.discard(group)
        self._tell(f"- {group}\n")

    def start(self) -> None:
        """Have it run, knowing what it is to keep. Nothing is started where it cannot be."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        reader, self._pipe = os.pipe2(os.O_CLOEXEC)
        try:
            self._process = _started(reader)
        except OSError:
            os.close(self._pipe)
            self._pipe = -1
            raise
        finally:
            os.close(reader)
        for group in self._held:
            self._tell(f"+ {group}\n")

    def close(self) -> None:
        """Let it end; what it still keeps ends too."""
        if self._process is not None:
            os.close(self._pipe)
            self._process.wait()
            self._process, self._pipe = None, -1

    def _tell(self, line: str) -> None:
        if self._process is not None:
            with suppress(BrokenPipeError):  # it was killed: the next start makes another, which is told all
                os.write(self._pipe, line.encode())


def _started(reader: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["/bin/sh", "-c", _KEEP],
        stdin=reader,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        start_new_session=True,
    )
