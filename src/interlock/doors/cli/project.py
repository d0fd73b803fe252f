"""Reads the settings of a project for the command line from `interlock.toml`, here or in a folder above."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final, TypeVar, cast

from interlock.core.budget import LIMITED, Limit, Limits, ScopeKind, Unit
from interlock.core.call import Principal
from interlock.core.errors import SettingsInvalid
from interlock.core.review_rules import DEFAULTS, ReviewRules
from interlock.doors.cli.faults import ProjectMissing
from interlock.doors.cli.project_settings import LOOK_UPS, SETTINGS, credentials_of, read_seal, settings_of
from interlock.loop.agent import Agent
from interlock.loop.model import Price
from interlock.settings import Settings

FILE: Final = "interlock.toml"
MEMORY: Final = ":memory:"
DAYS_MAX: Final = 36_500

_Fields = Mapping[str, type]
_Word = TypeVar("_Word", ScopeKind, Unit)
_Named = TypeVar("_Named", "NamedModel", Agent)
_TABLES: Final[Mapping[str, _Fields]] = {
    "interlock": {
        "store": str,
        "tools": list,
        "openapi": list,
        "mcp": list,
        "python": list,
        "policies": str,
        "examples": str,
        "keep_days": int,
        "seal_file": str,
        **SETTINGS,
    },
    "operator": {"id": str, "tenant": str, "groups": list},
    "people": {"id": str, "groups": list},
    "limits": {"scope": str, "unit": str, "amount": int, "window_s": int, "shared": bool},
    "models": {"name": str, "model": str, "tokens_max": int, "input_micros": int, "output_micros": int},
    "agents": {
        "name": str,
        "instructions": str,
        "description": str,
        "model": str,
        "tools": list,
        "hand_offs": list,
    },
    "look_ups": LOOK_UPS,
    "review": dict.fromkeys(ReviewRules.__dataclass_fields__, int),
}
_MANY: Final = frozenset({"people", "limits", "models", "agents"})
_FREE: Final = "credentials"
"""A table of names that are the project's own."""
_WORDS: Final[Mapping[type, str]] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list of texts",
}


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model that runs may ask: `text` says which, as `providers.model_of` reads it."""

    name: str
    text: str
    tokens_max: int | None = None
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """What `interlock.toml` says, its paths made absolute. `operator` is who the command line acts as.

    `keep_days` is how long what is kept whole stays, as far as `interlock audit purge` is not told otherwise; 0 where
    nothing is said. `openapi` names snapshots of imported documents, `mcp` of servers and `python` of packages;
    `examples` is the folder of examples of tools, `review` are the thresholds of a review of tools. `credentials` leads
    from names of credentials to variables of the environment; `seal_file` holds the key of a sealed store.
    """

    root: Path
    store: str
    tools: tuple[str, ...]
    policies: Path
    operator: Principal
    settings: Settings
    people: Mapping[str, Principal] = field(default_factory=dict)
    keep_days: int = 0
    models: tuple[NamedModel, ...] = ()
    agents: tuple[Agent, ...] = ()
    openapi: tuple[str, ...] = ()
    examples: Path = Path("examples")
    mcp: tuple[str, ...] = ()
    review: ReviewRules = DEFAULTS
    python: tuple[str, ...] = ()
    credentials: Mapping[str, str] = field(default_factory=dict)
    seal_file: Path | None = None

    @property
    def seal(self) -> bytes | None:
        """The key that seals the store; None: nothing is sealed. Raises `SettingsInvalid`."""
        return None if self.seal_file is None else read_seal(self.seal_file)

    @property
    def is_stored(self) -> bool:
        """Whether there is a store on disk already; a database is taken for one."""
        return self.is_database or (self.store != MEMORY and Path(self.store).exists())

    @property
    def is_database(self) -> bool:
        """Whether the store is in a database, such as `postgresql://host/name`, and not a file."""
        return "://" in self.store

    def person(self, name: str | None) -> Principal:
        """The operator, or the one of `[[people]]` that is named. Raises `SettingsInvalid` for a stranger."""
        if name is None or name == self.operator.id:
            return self.operator
        found = self.people.get(name)
        if found is None:
            known = [self.operator.id, *self.people]
            raise SettingsInvalid(f"{FILE} knows nobody called {name!r}{_meant(name, known)}")
        return found


def read_project(folder: Path | None) -> Project:
    """The project of a folder, or of the working directory or the nearest folder above it. Raises `SettingsInvalid`."""
    path = _found(Path.cwd()) if folder is None else folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ProjectMissing(f"there is no {FILE} in {path.parent}") from None
    except (OSError, UnicodeDecodeError) as fault:
        raise SettingsInvalid(f"{path} cannot be read: {fault}") from fault
    return parse_project(text, root=path.parent.resolve())


def parse_project(text: str, *, root: Path) -> Project:
    """The project that this TOML says, relative to `root`. Raises `SettingsInvalid` naming what it does not know."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise SettingsInvalid(f"{FILE} is no TOML: {fault}") from fault
    _refuse_unknown(said, [*_TABLES, _FREE], where=FILE)
    tables = {name: _table(said, name) for name in _TABLES if name not in _MANY}
    main, operator = tables["interlock"], _principal(tables["operator"], tenant="default", where="[operator]")
    store = _text(main, "store", "interlock.db")
    limits = Limits(tuple(_limit(each) for each in _many(said, "limits")))
    people = [_principal(each, tenant=operator.tenant, where="[[people]]") for each in _many(said, "people")]
    return Project(
        root=root,
        store=store if store == MEMORY or "://" in store else str(root / store),
        tools=_texts(main, "tools"),
        policies=root / _text(main, "policies", "policies"),
        operator=operator,
        people=_by_id(people, operator),
        settings=settings_of(main, limits=limits, look_ups=tables["look_ups"], tenant=operator.tenant),
        keep_days=_days(main, "keep_days"),
        models=_once([_model(each) for each in _many(said, "models")], where="[[models]]"),
        openapi=_texts(main, "openapi"),
        examples=root / _text(main, "examples", "examples"),
        mcp=_texts(main, "mcp"),
        review=ReviewRules(**cast(Mapping[str, int], tables["review"])),
        python=_texts(main, "python"),
        credentials=credentials_of(_free(said)),
        seal_file=root / _text(main, "seal_file", "") if main.get("seal_file") else None,
        agents=_once([_agent(each) for each in _many(said, "agents")], where="[[agents]]"),
    )


def _found(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder / FILE
    raise ProjectMissing(f"there is no {FILE} in {start} or above it")


def _table(said: Mapping[str, object], name: str) -> Mapping[str, object]:
    return _checked(said.get(name, {}), fields=_TABLES[name], where=f"[{name}]")


def _free(said: Mapping[str, object]) -> Mapping[str, object]:
    found = said.get(_FREE, {})
    if not isinstance(found, dict):
        raise SettingsInvalid(f"{FILE}: [{_FREE}] is a table")
    return found


def _many(said: Mapping[str, object], name: str) -> Iterator[Mapping[str, object]]:
    tables = said.get(name, [])
    if not isinstance(tables, list):
        raise SettingsInvalid(f"{FILE}: write [[{name}]] with two brackets, once for each")
    for table in tables:
        yield _checked(table, fields=_TABLES[name], where=f"[[{name}]]")


def _checked(table: object, *, fields: _Fields, where: str) -> Mapping[str, object]:
    if not isinstance(table, dict):
        raise SettingsInvalid(f"{FILE}: {where} is a table")
    _refuse_unknown(table, fields, where=where)
    for name, value in table.items():
        kind = fields[name]
        if type(value) not in ((int, float) if kind is float else (kind,)) or not _of_texts(value):
            raise SettingsInvalid(f"{FILE}: {name} in {where} must be {_WORDS[kind]}")
    return table


def _of_texts(value: object) -> bool:
    return not isinstance(value, list) or all(isinstance(each, str) for each in value)


def _refuse_unknown(table: Mapping[str, object], known: Iterable[str], *, where: str) -> None:
    names = list(known)
    for name in table:
        if name not in names:
            raise SettingsInvalid(f"{where} has no setting {name!r}{_meant(name, names)}")


def _meant(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; it knows {', '.join(names)}"


def _principal(table: Mapping[str, object], *, tenant: str, where: str) -> Principal:
    name = _text(table, "id", "")
    if not name.strip():
        raise SettingsInvalid(f'{FILE}: {where} needs an id, such as id = "alice"')
    return Principal(_text(table, "tenant", tenant), name, groups=frozenset(_texts(table, "groups")))


def _by_id(people: Iterable[Principal], operator: Principal) -> Mapping[str, Principal]:
    found: dict[str, Principal] = {}
    for each in people:
        if each.id == operator.id or each.id in found:
            raise SettingsInvalid(f"{FILE}: two people have the id {each.id!r}; who approves must be one person")
        found[each.id] = each
    return found


def _limit(table: Mapping[str, object]) -> Limit:
    amount, window_s = table.get("amount"), table.get("window_s", 0)
    if not isinstance(amount, int) or not isinstance(window_s, int) or amount < 0 or window_s < 0:
        raise SettingsInvalid(f"{FILE}: [[limits]] needs an amount of zero or more, and no negative window_s")
    scope, unit = _one_of(LIMITED, table, "scope"), _one_of(tuple(Unit), table, "unit")
    return Limit(scope, unit, amount, window_s, shared=bool(table.get("shared", False)))


def _model(table: Mapping[str, object]) -> NamedModel:
    text = _text(table, "model", "").strip()
    if not text:
        raise SettingsInvalid(f'{FILE}: [[models]] needs a model, such as model = "openai:gpt-5-mini"')
    numbers = {name: _count(table, name) for name in ("tokens_max", "input_micros", "output_micros") if name in table}
    prices = "input_micros" in numbers, "output_micros" in numbers
    if any(prices) and not all(prices):
        raise SettingsInvalid(f"{FILE}: [[models]] has a price with both input_micros and output_micros")
    price = Price(numbers["input_micros"], numbers["output_micros"]) if all(prices) else None
    return NamedModel(_text(table, "name", text), text, numbers.get("tokens_max"), price)


def _count(table: Mapping[str, object], name: str) -> int:
    found = table[name]
    if not isinstance(found, int) or found < (name == "tokens_max"):
        raise SettingsInvalid(f"{FILE}: {name} in [[models]] is a number from {int(name == 'tokens_max')}")
    return found


def _agent(table: Mapping[str, object]) -> Agent:
    words = {name: _text(table, name, "") for name in ("instructions", "description", "model")}
    tools = _texts(table, "tools") if "tools" in table else None
    return Agent(_text(table, "name", ""), **words, tools=tools, hand_offs=_texts(table, "hand_offs"))


def _once(found: list[_Named], *, where: str) -> tuple[_Named, ...]:
    if len({each.name for each in found}) < len(found):
        raise SettingsInvalid(f"{FILE}: two of {where} have one name")
    return tuple(found)


def _one_of(words: tuple[_Word, ...], table: Mapping[str, object], name: str) -> _Word:
    given = _text(table, name, "")
    for each in words:
        if each.value == given:
            return each
    raise SettingsInvalid(f"{FILE}: [[limits]] {name} must be one of {', '.join(words)}, not {given!r}")


def _days(table: Mapping[str, object], name: str) -> int:
    days = table.get(name, 0)
    if not isinstance(days, int) or not 0 <= days <= DAYS_MAX:
        raise SettingsInvalid(f"{FILE}: {name} in [interlock] is a number of days up to {DAYS_MAX}")
    return days


def _text(table: Mapping[str, object], name: str, default: str) -> str:
    return str(table.get(name, default))


def _texts(table: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = table.get(name, [])
    return tuple(map(str, found)) if isinstance(found, list) else ()
