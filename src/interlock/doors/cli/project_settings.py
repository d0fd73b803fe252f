"""Which key of `interlock.toml` each setting of the gate has; settings, credentials and the key that seals, read there.

A setting is written under its own name in `[interlock]`, unless it is named here: one that comes later has its key with
its field.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, cast

from interlock.core.budget import Limits
from interlock.core.call import Principal
from interlock.core.errors import SettingsInvalid
from interlock.core.recovery import LookUpRule
from interlock.settings import Settings

NAMED_OTHERWISE: Final[Mapping[str, str]] = {
    "limits": "[[limits]]",
    "look_ups": "[look_ups]",
    "tenant": "tenant in [operator]",
    "secrets": "secrets_env",
}
"""Settings that stand under another key than their name."""

OF_EACH_VERB: Final[Mapping[str, str]] = {
    "publish": "a verb that reads publishes nothing, and one that calls what is new",
    "drives": "the command line drives the runs that it is asked for, and leaves those of others to their servers",
}
"""Settings that no file says, and why."""

SEAL_BYTES: Final = 32


def _kinds(of: type[Any], *, but: Iterable[str] = ()) -> dict[str, type]:
    """The type of each field in a file, by that of its default."""
    plain = {field.name: field.default for field in fields(of) if field.name not in but}
    return {name: _kind(default) for name, default in plain.items()}


def _kind(default: object) -> type:
    if isinstance(default, tuple):
        return list
    return next(kind for kind in (str, int, float) if isinstance(default, kind))


SETTINGS: Final[Mapping[str, type]] = {
    **_kinds(Settings, but=(*NAMED_OTHERWISE, *OF_EACH_VERB)),
    "secrets_env": list,
}
"""The keys of `[interlock]` that are settings."""

LOOK_UPS: Final[Mapping[str, type]] = _kinds(LookUpRule)


def settings_of(main: Mapping[str, object], *, limits: Limits, look_ups: Mapping[str, object], tenant: str) -> Settings:
    """The settings that the tables of a file say. Raises `SettingsInvalid`."""
    given = {name: value for name, value in main.items() if name in SETTINGS and name != "secrets_env"}
    shown_never = [os.environ[name] for name in _names(main, "secrets_env") if os.environ.get(name)]
    try:
        rule = LookUpRule(**cast(dict[str, Any], look_ups))
        return Settings(**cast(dict[str, Any], given), limits=limits, look_ups=rule, tenant=tenant, secrets=shown_never)
    except SettingsInvalid as fault:
        raise SettingsInvalid(f"interlock.toml: {str(fault).removeprefix('settings: ')}") from None


def read_seal(path: Path) -> bytes:
    """The key in a file that seals a store: 32 bytes, or the same in hexadecimal digits. Raises `SettingsInvalid`."""
    try:
        found = path.read_bytes()
    except OSError as fault:
        raise SettingsInvalid(f"seal_file {path} cannot be read: {fault.strerror}") from fault
    if len(found) == SEAL_BYTES:
        return found
    try:
        key = bytes.fromhex(found.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != SEAL_BYTES:
        raise SettingsInvalid(f"seal_file {path} holds no key: it takes {SEAL_BYTES} bytes, or 64 hexadecimal digits")
    return key


class Credentials:
    """Credentials of the project's tools, by name from the environment: the same for whoever calls."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """Those of the named that `[credentials]` knows and the environment has."""
        found = {name: os.environ.get(self._variables.get(name, "")) for name in names}
        return {name: value for name, value in found.items() if value}


def credentials_of(table: Mapping[str, object]) -> dict[str, str]:
    """The variable of the environment by the name of each credential. Raises `SettingsInvalid`."""
    for name, variable in table.items():
        if not isinstance(variable, str) or not variable:
            raise SettingsInvalid(
                f"interlock.toml: {name} in [credentials] names a variable of the environment, which holds it"
            )
    return {name: str(variable) for name, variable in table.items()}


def _names(table: Mapping[str, object], key: str) -> list[str]:
    found = table.get(key, [])
    return [str(each) for each in found] if isinstance(found, list) else []
