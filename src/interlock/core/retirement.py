"""How a version goes for good: what takes its place, how calls of it map there, and until when it may be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Final

from interlock.core.canonical import Json, canonical, decode
from interlock.core.schema import CompiledSchema
from interlock.core.tool import Document, ToolSpec, spec_to_json
from interlock.core.typed import from_json

NOTHING: Final = Document(b"{}")


@dataclass(frozen=True, slots=True)
class Replacement:
    """What takes the place of a version, and how a call of the old becomes one of the new: for the caller to do.

    `renames` leads from the old names of arguments to the new, `dropped` are those that the new one does not take, and
    `added` those that it takes besides, with the values that keep to what the old one did (a JSON object). `errors`
    leads from the old error codes to the new. Without a version it is the one that the name means. `gains` and `losses`
    are those who may call the new one and not the old, and the other way round: worked out from policies, never given.
    """

    name: str
    version: str = ""
    renames: Mapping[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    added: Document = NOTHING
    errors: Mapping[str, str] = field(default_factory=dict)
    gains: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()

    @property
    def told(self) -> dict[str, Json]:
        """What a late caller is told, as far as there is something to tell."""
        added = self.added.value
        parts: dict[str, Json] = {
            "version": self.version,
            "renames": {**self.renames},
            "dropped": [*self.dropped],
            "added": added,
            "errors": {**self.errors},
        }
        return {"replacement": self.name, **{name: part for name, part in parts.items() if part}}


@dataclass(frozen=True, slots=True)
class Retirement:
    """What was announced about a version, and what became of it. Times are microseconds since 1970, in UTC.

    `retires_us` is the day that was announced: until then calls of it are watched. `confirmed_by` is who confirmed for
    its owner, and why. `retired_us` is when it was done; runs that were bound to it may go on until `drains_until_us`.
    """

    announced_us: int
    retires_us: int
    by: str = ""
    reason: str = ""
    replacement: Replacement | None = None
    confirmed_by: str = ""
    confirmed_why: str = ""
    confirmed_us: int | None = None
    retired_us: int | None = None
    drains_until_us: int | None = None


def read(text: str) -> Retirement | None:
    """What stands in a published version; None: nothing was said about its retirement."""
    return from_json(Retirement, decode(text.encode())) if text else None


def written(retirement: Retirement) -> str:
    """The same to be kept."""
    return canonical(spec_to_json(retirement)).decode()


def day(at_us: int) -> str:
    """The day in UTC, as `2026-11-30`."""
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).date().isoformat()


def at_time(at_us: int) -> str:
    """The second in UTC, as `2026-11-30T12:00:00Z`."""
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_us(day: str) -> int:
    """The microsecond at which a day (`2026-11-30`) begins in UTC. Raises `ValueError`."""
    began = datetime.combine(date.fromisoformat(day), time(), UTC)
    return int(began.timestamp()) * 1_000_000


def notice(spec: ToolSpec, retirement: Retirement) -> str:
    """What callers of a version are told beside its results while its retirement is announced.

    It does not name what takes its place: not everybody who calls the one may see the other."""
    return f"{spec.name} is to be retired on {day(retirement.retires_us)}."


def how_to(replacement: Replacement) -> str:
    """In words what a caller has to do to call the replacement instead."""
    renames = [f"{old} is called {new}" for old, new in replacement.renames.items()]
    dropped = [f"{name} is not taken" for name in replacement.dropped]
    added = [f"{name} is {value!r}" for name, value in _members(replacement.added).items()]
    parts = ", ".join([*renames, *dropped, *added])
    return f"Call {replacement.name} instead{f': {parts}' if parts else ''}."


def wrong_with(old: ToolSpec, new: ToolSpec, replacement: Replacement) -> tuple[str, ...]:
    """Why calls of the old version do not map to the new as the replacement says; empty where they do."""
    had, has = _arguments(old), _arguments(new)
    added = _members(replacement.added)
    kept = {name for name in had if name in has and name not in replacement.dropped and name not in replacement.renames}
    reached = kept | {*replacement.renames.values()} | {*added}
    told = kept | {*replacement.renames} | {*replacement.dropped}
    return (
        *(
            f"{old.name} takes no argument {each}"
            for each in _beyond([*replacement.renames, *replacement.dropped], had)
        ),
        *(f"{new.name} takes no argument {each}" for each in _beyond([*replacement.renames.values(), *added], has)),
        *(f"nothing says what becomes of {each}: rename or drop it" for each in _beyond(had, told)),
        *(f"{new.name} needs {each}, which nothing gives" for each in _beyond(_required(new), reached)),
        *(f"two arguments become {each}" for each in _twice([*kept, *replacement.renames.values(), *added])),
        *(f"{old.name} has no error {each}" for each in _beyond(replacement.errors, _codes(old))),
        *(f"{new.name} has no error {each}" for each in _beyond(replacement.errors.values(), _codes(new))),
    )


def misfits(input_: CompiledSchema, replacement: Replacement) -> tuple[str, ...]:
    """Which of the added values the new version would refuse."""
    added = _members(replacement.added)
    wrong = [each.path for each in input_.violations(added)]
    bad = (name for name in added if any(_is_in(path, name) for path in wrong))
    return tuple(f"it does not take the value given for {name}" for name in bad)


def _is_in(path: str, name: str) -> bool:
    place = f"/{name.replace('~', '~0').replace('/', '~1')}"
    return path == place or path.startswith(f"{place}/")


def mapped(arguments: Mapping[str, Json], replacement: Replacement) -> dict[str, Json]:
    """What the new one would be called with: for a person or a test to look at, never called by the gate."""
    kept = {name: value for name, value in arguments.items() if name not in replacement.dropped}
    return {replacement.renames.get(name, name): value for name, value in kept.items()} | _members(replacement.added)


def _beyond(names: Iterable[str], known: Iterable[str]) -> list[str]:
    return sorted({*names} - {*known})


def _twice(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _arguments(spec: ToolSpec) -> frozenset[str]:
    """What a model may give: the members of the input schema without those that the session adds."""
    injected = {each.name for each in spec.parameters if each.inject}
    return frozenset(_members_of(spec.input_schema, "properties")) - injected


def _required(spec: ToolSpec) -> list[str]:
    schema = spec.input_schema.value
    required = schema.get("required") if isinstance(schema, dict) else None
    return [str(each) for each in required if str(each) in _arguments(spec)] if isinstance(required, list) else []


def _members_of(document: Document, name: str) -> dict[str, Json]:
    value = document.value
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _members(document: Document) -> dict[str, Json]:
    value = document.value
    return value if isinstance(value, dict) else {}


def _codes(spec: ToolSpec) -> frozenset[str]:
    return frozenset(each.code for each in spec.errors)
