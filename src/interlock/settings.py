"""Every setting of one Interlock, frozen: what a host may choose, with what it means and its default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, cast

from interlock.core.budget import Limit, Limits
from interlock.core.errors import SettingsInvalid
from interlock.core.http_address import read_allowed
from interlock.core.recovery import LookUpRule


class Publish(StrEnum):
    """What opening a store does with tools that it does not have as they are here.

    ALL publishes what is new, and refuses to open where a tool changed under its version. NEW publishes what is new; a
    changed tool cannot be called. NOTHING neither publishes tools or policies nor looks calls up: to read or decide.
    """

    ALL = "all"
    NEW = "new"
    NOTHING = "nothing"


class Gates(StrEnum):
    """Whether moves of versions are held to their gates (`core.lifecycle`).

    OPEN: a version is available once it is published, which is the act of the operator who opens the gate with it; how
    each need stood is written into the evidence of later moves and asked for nowhere. GATED: it begins as a candidate,
    and each move needs what its gate asks for, or a waiver by name.
    """

    OPEN = "open"
    GATED = "gated"


class Drives(StrEnum):
    """Which runs of models a gate drives. DUE: all that are due, whoever began them. NAMED: those that it began, or was
    asked to go on with. NONE: it only reads them and tells them what people say; others do what comes of it.
    """

    DUE = "due"
    NAMED = "named"
    NONE = "none"


class FindsBy(StrEnum):
    """What tools are found by. MEANING adds a small model to the words: `pip install 'interlock[semantic]'`."""

    WORDS = "words"
    MEANING = "meaning"


class ProbeActs(StrEnum):
    """What a failing probe does beside being on record: nothing (REPORT), or mark its tool degraded, which takes calls
    all the same (DEGRADE).
    """

    REPORT = "report"
    DEGRADE = "degrade"


TOOLS_MAX: Final = 40
"""How many tools a run offers at once, where nothing else is said."""


CHOSEN: Final[Mapping[str, type[StrEnum]]] = {
    "publish": Publish,
    "lifecycle": Gates,
    "drives": Drives,
    "finds_by": FindsBy,
    "probe_acts": ProbeActs,
}
"""Settings that are one of a few; a text that names one is taken for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How one gate behaves. Times say their unit; a value that cannot be used raises `SettingsInvalid` at once.

    - `environment`: what policies see as `context.environment`, such as `production`.
    - `limits`: budgets, as `Limits` or any collection of `Limit`; absent means unlimited, zero means none.
    - `deadline_ms`: the deadline of a call whose caller gives none.
    - `facts_timeout_ms`: how long facts from outside may take before a policy that reads them denies.
    - `waiting_max`: how many calls may wait in this process for one limit that frees up by itself; others are told at
      once when to come back.
    - `threads_max`: how many synchronous tools may run at once.
    - `look_ups`: how often, how long and how far apart tools are asked about calls whose outcome was lost.
    - `egress_allow`: host names and ranges (`10.1.0.0/16`) outside the public internet that HTTP, gRPC and MCP tools
      may reach. A name lets private addresses through, a range whatever it holds.
    - `reap_every_s`: how often calls are recovered that processes which died have left behind; 0: only at the start.
    - `runs_every_s`: how often runs are looked for that are due, or that processes which died have left; 0: only when
      the gate opens.
    - `drives`: which runs this gate drives. One that publishes nothing drives none.
    - `closing_people`: how many people it takes to close an unknown call by hand, 1 or 2. Where approving a call of the
      tool takes several, closing one takes two in any case.
    - `secrets`: values that must never be shown anywhere, besides those that handlers are given.
    - `cache_bytes_max`: how much of results that may be given again is kept in memory.
    - `results_owner`: the owner of a tool `read_result`, by which models read on in results that were too long to be
      shown; without one there is no such tool.
    - `hand_off_owner`: the owner of a tool `hand_off`, by which an agent of a run hands its task to another; without
      one there is no such tool.
    - `finding_owner`: the owner of a tool `find_tools`, by which models search for tools that they are not offered;
      without one there is no such tool, and all tools are offered.
    - `tools_max`: how many tools a run offers from the beginning where there is `find_tools`, and how many found ones
      beside them.
    - `finds_by`: whether tools are found by their words alone, or by what they mean too, which takes an extra.
    - `tenant`: the installation's own tenant, that of the embedded host's acts (registering tools, saving policies).
      Only its operators act on what is shared by all tenants.
    - `lifecycle`: whether moves of versions are held to their gates.
    - `publish`: what opening does with tools that the store does not have as they are here.
    - `probe_acts`: what a failing probe does beside being on record; it never closes a tool.
    - `mcp_list_s`: how long what an MCP server lists is believed that promises to say when it changes; one that does
      not promise that, or is reached over HTTP, for a minute at the most. 0: the list is read for each call.
    - `probe_every_s`: how often probes are looked for whose time has come, and made; 0: only when they are asked for.
    """

    environment: str = "development"
    limits: Limits = field(default_factory=Limits)
    deadline_ms: int = 120_000
    facts_timeout_ms: int = 2_000
    waiting_max: int = 1_000
    threads_max: int = 32
    cache_bytes_max: int = 64 * 1024 * 1024
    look_ups: LookUpRule = field(default_factory=LookUpRule)
    closing_people: int = 1
    egress_allow: Sequence[str] = ()
    reap_every_s: float = 3.0
    runs_every_s: float = 1.0
    drives: Drives = Drives.DUE
    secrets: Sequence[str] = ()
    results_owner: str = ""
    hand_off_owner: str = ""
    finding_owner: str = ""
    tools_max: int = TOOLS_MAX
    finds_by: FindsBy = FindsBy.WORDS
    tenant: str = "default"
    lifecycle: Gates = Gates.OPEN
    publish: Publish = Publish.ALL
    probe_acts: ProbeActs = ProbeActs.DEGRADE
    mcp_list_s: float = 300.0
    probe_every_s: float = 0.0

    def __post_init__(self) -> None:
        given: object = self.limits
        limits = given if isinstance(given, Limits) else Limits(cast(tuple[Limit, ...], given))
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "secrets", _texts(self.secrets))
        object.__setattr__(self, "egress_allow", _texts(self.egress_allow, name="egress_allow"))
        read_allowed(self.egress_allow)
        for name, kind in CHOSEN.items():
            object.__setattr__(self, name, _chosen(name, getattr(self, name), kind=kind))
        if self.publish is Publish.NOTHING:
            object.__setattr__(self, "drives", Drives.NONE)
        people = cast(object, self.closing_people)
        if type(people) is not int or people not in (1, 2):
            raise SettingsInvalid(f"settings: closing_people must be 1 or 2, not {self.closing_people!r}")
        if not isinstance(self.look_ups, LookUpRule):
            raise SettingsInvalid("settings: look_ups must be a LookUpRule")
        for name in ("reap_every_s", "runs_every_s", "probe_every_s", "mcp_list_s"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise SettingsInvalid(f"settings: {name} must be a number from 0, not {getattr(self, name)!r}")
        for name in ("environment", "tenant"):
            _refuse_unless(name, getattr(self, name), kind=str, wanted="a text that is not empty")
        for name in ("deadline_ms", "facts_timeout_ms", "waiting_max", "threads_max", "cache_bytes_max", "tools_max"):
            _refuse_unless(name, getattr(self, name), kind=int, wanted="a whole number from 1")


def _chosen(name: str, value: str, *, kind: type[StrEnum]) -> StrEnum:
    if value not in frozenset(kind):
        raise SettingsInvalid(f"settings: {name} must be {', '.join(kind)}, not {value!r}")
    return kind(value)


def _refuse_unless(name: str, value: object, *, kind: type[str] | type[int], wanted: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool) or not value or (isinstance(value, int) and value < 0):
        raise SettingsInvalid(f"settings: {name} must be {wanted}, not {value!r}")


def _texts(given: object, *, name: str = "secrets") -> tuple[str, ...]:
    """A single text is not a collection of its letters; the values themselves are not told."""
    found = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else (None,)
    if not all(isinstance(each, str) for each in found):
        raise SettingsInvalid(f"settings: {name} must be a collection of texts")
    return tuple(map(str, found))
