"""Examples of a tool's calls, each with what the world is like and what has to come of it: tests, and reading matter.

An example is data. It runs against a gate of its own in which the world answers what the example says, never the real
one; `kind` says what it shows. Times in it are texts in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from interlock.core.call import Principal, PrincipalKind
from interlock.core.canonical import Json, canonical, sha256_hex
from interlock.core.evidence import Source
from interlock.core.observation import Status
from interlock.core.tool import Document, ToolSpec, spec_to_json


class ExampleKind(StrEnum):
    """What an example shows: how it goes well, or one way in which it must not.

    REPLAY makes the call twice, ROLLBACK makes it and then undoes it; the second is what is judged.
    """

    TYPICAL = "typical"
    WRONG = "wrong"
    PERMISSION_DENIED = "permission_denied"
    MISSING_ARGUMENT = "missing_argument"
    APPROVAL = "approval"
    DEGRADED = "degraded"
    TIMEOUT = "timeout"
    REPLAY = "replay"
    ROLLBACK = "rollback"


NOTHING: Final = Document(b"null")
NO_VALUES: Final = Document(b"{}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleCaller:
    """Who makes the call. `claims` is an object of attested values; `agent` the agent of a run it comes through."""

    id: str = "example"
    kind: PrincipalKind = PrincipalKind.HUMAN
    groups: frozenset[str] = frozenset()
    acting_for: str | None = None
    claims: Document = NO_VALUES
    agent: str = ""
    task: str = "example"
    run: str | None = None
    key: str | None = None
    user_requested: bool = True

    def principal(self, tenant: str) -> Principal:
        """The principal of a tenant that this is."""
        claims = self.claims.value
        said = claims if isinstance(claims, dict) else {}
        held = {name: each for name, each in said.items() if isinstance(each, str | int | bool)}
        return Principal(tenant, self.id, self.kind, self.groups, self.acting_for, claims=held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What stands behind a tool gives back once: a value, unless it `fails`, `hangs` (for ever), or is `lost`.

    `fails` is a code that the tool declares, else one of ours such as TOOL_UNAVAILABLE; `says` is its message. What is
    lost was done, perhaps: the connection broke after the request. `open_items` are what it could not do of several.
    """

    gives: Document = NOTHING
    fails: str = ""
    says: str = ""
    hangs: bool = False
    lost: bool = False
    takes_ms: int = 0
    open_items: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    resource_version: str | None = None


class ExampleHealth(StrEnum):
    """How the tool is, as far as an operator can say it."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    QUOTA_SPENT = "quota_spent"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleWorld:
    """What the world is like. `answers` come in order, the last one again and again; `others` are those of other tools.

    `fixture` names a function (`module:function`) that stands in for the handler. `real`: the handler itself runs,
    which only a read that is a Python function may. `refuses` is what the tool's precondition says against it, `found`
    what its look-up of a lost call finds (null: that it did not happen; `cannot_tell`: nothing). `resource` is an
    object of attributes, at `resource_version`.
    """

    answers: tuple[Answer, ...] = ()
    others: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    fixture: str = ""
    real: bool = False
    refuses: str = ""
    found: Document = NOTHING
    cannot_tell: bool = False
    resource: Document = NO_VALUES
    resource_version: str | None = None
    facts: Document = NO_VALUES
    health: ExampleHealth = ExampleHealth.HEALTHY
    now: str = ""

    @property
    def is_declared(self) -> bool:
        """Whether it says what stands behind the tool."""
        return bool(self.answers or self.fixture)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What has to come of it. `data` is a part of the result (of objects some members, of lists all), `data_schema` a
    JSON Schema of it; `tool_code` a code of the tool's own, `effects` how often something may have been changed,
    `roles` are those whom an approval takes.
    """

    status: Status
    code: str = ""
    tool_code: str = ""
    data: Document | None = None
    data_schema: Document | None = None
    effects: int | None = None
    roles: tuple[str, ...] | None = None
    replayed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """Who looked whether an example of another domain holds in this one, when, and what made them say so."""

    by: str
    at: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolExample:
    """One example. `version` is one, a range (`>=1.2 <2`), or empty for whichever is called by default.

    `task` is the business task that it shows, `unsuitable` what it is no example of. `domain` is where it comes from:
    where that is another than the tool's, somebody has to have `reviewed` it. `raw` are arguments as text, for those
    that are no JSON. `approve`: people in the roles that are asked for approve it, and what is judged is what came
    then. `expires` is a date. A `probe` is also tried against the real tool, at most once in `every` (`30m`, `6h`).
    `seen` is the digest of what a model saw of the tool when it was accepted. `made_from` names a real call.
    """

    name: str
    tool: str
    kind: ExampleKind
    expected: Expected
    version: str = ""
    task: str = ""
    owner: str = ""
    unsuitable: tuple[str, ...] = ()
    domain: str = ""
    reviewed: Reviewed | None = None
    caller: ExampleCaller = ExampleCaller()
    arguments: Document = NO_VALUES
    raw: str | None = None
    world: ExampleWorld = ExampleWorld()
    approve: bool = False
    expires: str = ""
    probe: bool = False
    every: str = ""
    watch: Mapping[str, Document] = field(default_factory=dict)
    seen: str = ""
    made_from: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over all that it says."""
        return sha256_hex(canonical(plain(self)))


EXPECTS: Final[Mapping[ExampleKind, frozenset[Status]]] = MappingProxyType(
    {
        ExampleKind.TYPICAL: frozenset({Status.OK, Status.PARTIAL}),
        ExampleKind.WRONG: frozenset({Status.REFUSED, Status.FAILED, Status.PARTIAL}),
        ExampleKind.PERMISSION_DENIED: frozenset({Status.REFUSED}),
        ExampleKind.MISSING_ARGUMENT: frozenset({Status.REFUSED}),
        ExampleKind.APPROVAL: frozenset({Status.WAITING, Status.OK, Status.PARTIAL}),
        ExampleKind.DEGRADED: frozenset({Status.FAILED, Status.REFUSED, Status.PARTIAL, Status.OK, Status.UNKNOWN}),
        ExampleKind.TIMEOUT: frozenset({Status.FAILED, Status.UNKNOWN}),
        ExampleKind.REPLAY: frozenset({Status.OK, Status.PARTIAL, Status.REFUSED}),
        ExampleKind.ROLLBACK: frozenset({Status.COMPENSATED, Status.COMPENSATING, Status.COMPENSATION_FAILED}),
    }
)
"""How an example of each kind may end: one that shows a denial and expects success shows something else."""


def domain_of(spec: ToolSpec) -> str:
    """The domain that a tool belongs to: that of its business owner, else its owner's."""
    return spec.business_owner or spec.owner


def plain(value: object) -> Json:
    """An example, or a part of one, as JSON, without what is as it would be anyway."""
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, Document | type) or not is_dataclass(value):
        return spec_to_json(value)
    said: dict[str, Json] = {}
    for each in fields(value):
        held = getattr(value, each.name)
        if held != each.default and not (isinstance(held, Mapping) and not held):
            said[each.name] = plain(held)
    return said
