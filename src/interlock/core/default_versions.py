"""The default version of a tool's name where an operator has set it, and the way back."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.canonical import canonical, decode
from interlock.core.errors import MoveRefused
from interlock.core.tool import spec_to_json
from interlock.core.typed import from_json


@dataclass(frozen=True, slots=True)
class DefaultVersion:
    """What a name means until somebody says otherwise, whatever is published meanwhile.

    An empty `version` is the one published last, whichever that is by then. `before` is what the name meant before, to
    which one act goes back until `until_us` (microseconds, UTC); `followed`: it meant that because it was the one
    published last, and going back lets the name follow those again.
    """

    version: str
    before: str = ""
    until_us: int = 0
    followed: bool = False

    def promoted(self, version: str, *, until_us: int) -> DefaultVersion:
        """Another version is the default, and this one is kept for a while. Raises `MoveRefused` where it is it."""
        if version == self.version:
            raise MoveRefused(f"{version} is the default already")
        return DefaultVersion(version, self.version, until_us)

    @staticmethod
    def first(version: str, *, newest: str, until_us: int) -> DefaultVersion:
        """A version is the default of a name that followed what was published last, which was `newest`."""
        return DefaultVersion(version, "" if newest == version else newest, until_us, followed=True)

    def newest(self, *, until_us: int) -> DefaultVersion:
        """The version published last is the default again. Raises `MoveRefused` where it is."""
        if not self.version:
            raise MoveRefused("it means the version published last already")
        return DefaultVersion("", self.version, until_us)

    def rolled_back(self, now_us: int) -> DefaultVersion:
        """What it meant before is the default again. Raises `MoveRefused` where there is no way back."""
        if not self.before and not self.followed:
            lacks = f"version before {self.version} to go back to" if self.version else "promotion to go back from"
            raise MoveRefused(f"there is no {lacks}: promote a version")
        if now_us > self.until_us:
            raise MoveRefused(
                f"the window for going back to {self.way_back} has passed: promote it, which is another decision"
            )
        return DefaultVersion("" if self.followed else self.before)

    @property
    def way_back(self) -> str:
        """Where one act goes back to, in words; empty where there is no way back."""
        return "the version published last" if self.followed else self.before


def default_to_bytes(default: DefaultVersion) -> bytes:
    """The body of its document."""
    return canonical(spec_to_json(default))


def default_from_bytes(body: bytes) -> DefaultVersion:
    """The default in a body. Raises `ValueError` where it is none."""
    return from_json(DefaultVersion, decode(body))
