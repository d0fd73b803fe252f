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
    which one act goes back until `until_us` (microseconds, UTC).
    """

    version: str
    before: str = ""
    until_us: int = 0

    def promoted(self, version: str, *, until_us: int) -> DefaultVersion:
        """Another version is the default, and this one is kept for a while. Raises `MoveRefused` where it is it."""
        if version == self.version:
            raise MoveRefused(f"{version} is the default already")
        return DefaultVersion(version, self.version, until_us)

    def newest(self, *, until_us: int) -> DefaultVersion:
        """The version published last is the default again. Raises `MoveRefused` where it is."""
        if not self.version:
            raise MoveRefused("it means the version published last already")
        return DefaultVersion("", self.version, until_us)

    def rolled_back(self, now_us: int) -> DefaultVersion:
        """The version before is the default again. Raises `MoveRefused` where there is no way back."""
        if not self.before:
            raise MoveRefused(f"there is no version before {self.version} to go back to: promote one")
        if now_us > self.until_us:
            raise MoveRefused(
                f"the window for going back to {self.before} has passed: promote it, which is another decision"
            )
        return DefaultVersion(self.before)


def default_to_bytes(default: DefaultVersion) -> bytes:
    """The body of its document."""
    return canonical(spec_to_json(default))


def default_from_bytes(body: bytes) -> DefaultVersion:
    """The default in a body. Raises `ValueError` where it is none."""
    return from_json(DefaultVersion, decode(body))
