"""The contract of a tool: everything the gate needs to know, none of it left to what a description says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Final, cast

from interlock.core.canonical import Json, canonical, decode, kept, sha256_hex
from interlock.core.effect import Effect
from interlock.core.evidence import STATUS_ONLY, EvidenceRule
from interlock.core.frozen import frozen
from interlock.core.labels import NO_LABELS, Labels

SHARED = "*"
"""The tenant of tools that every tenant of this installation may be allowed to use."""


class Risk(IntEnum):
    """How much can go wrong, in rising order."""

    LOW = 0
    MEDIUM = 1
    HIGH = 2
    CRITICAL = 3


class ChosenBy(StrEnum):
    """Who may pick the tool: a model on its own, or only an explicit request of the user."""

    MODEL = "model"
    USER = "user"


class ParameterSource(StrEnum):
    """Where a parameter's value may come from. CONTEXT is injected, and hidden from the model's schema."""

    MODEL = "model"
    USER = "user"
    CONTEXT = "context"


class OutputCheck(StrEnum):
    """What happens when a result breaks the output schema."""

    OFF = "off"
    WARN = "warn"
    STRICT = "strict"


@frozen
class Document:
    """A JSON document that cannot change: canonical bytes, decoded afresh for each reader."""

    text: bytes

    @staticmethod
    def of(value: Json) -> Document:
        """The document that holds `value`."""
        return Document(kept(value))

    @property
    def value(self) -> Json:
        """A fresh Python value."""
        return decode(self.text)


@frozen
class Parameter:
    """What is known of one top-level parameter beyond its JSON Schema.

    `inject` names the trusted value a CONTEXT parameter takes: `tenant`, `principal`, `on_behalf_of`, `run`, `task`,
    or `claims.NAME`.
    """

    name: str
    unit: str = ""
    currency: str = ""
    sensitive: bool = False
    source: ParameterSource = ParameterSource.MODEL
    inject: str = ""


@frozen
class ErrorContract:
    """One error code that the tool may return."""

    code: str
    retryable: bool = False
    nothing_happened: bool = False
    description: str = ""


@frozen
class ResourceRule:
    """Which resource a call touches: its type, and the argument (or `{a}/{b}` template of arguments) that names it.

    One argument may be a path that does not climb out; in a template each is one part, without `/`.
    """

    type: str
    id: str
    resolved: bool = False


@dataclass(frozen=True, slots=True)
class IdempotencyRule:
    """Which arguments make two calls the same effect (none: all of them), and for how long that is remembered."""

    fields: tuple[str, ...] = ()
    caller_key_required: bool = False
    lifetime_s: int = 90 * 86_400


@dataclass(frozen=True, slots=True)
class RetryRule:
    """How often a transient fault is tried again where the effect class allows it; back-off in milliseconds."""

    attempts: int = 3
    backoff_ms: int = 100
    backoff_max_ms: int = 5_000


@frozen
class ApprovalFloor:
    """The least approval that a tool demands; policy may ask for more, never for less. `lifetime_s` bounds the wait."""

    roles: frozenset[str] = frozenset()
    quorum: int = 1
    lifetime_s: int = 86_400
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CacheRule:
    """For how long a result of a read may be given again, in seconds, and the resource types that it reads.

    An effect on one of those types, or one that says of no type what it touches, ends it at once. Where none is named
    it is the type of the tool's own resource, and where there is none either, every effect of the tenant.
    """

    lifetime_s: int
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call may cost at most, in millionths of `currency`; charged whole where usage is not reported."""

    max_micros: int = 0
    currency: str = "USD"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vendor:
    """Who runs what is behind the tool."""

    name: str = ""
    region: str = ""
    sla: str = ""
    terms: str = ""
    rate_limit: str = ""


@frozen
class Localized:
    """Words for one language, keyed by its BCP 47 tag in `ToolSpec.localized`."""

    title: str = ""
    description: str = ""
    use_when: str = ""
    not_for: str = ""
    summary: str = ""


@frozen
class Example:
    """One call as it should look. `arguments` is a JSON object."""

    title: str
    arguments: Document


@frozen
class Entrypoint:
    """What runs the tool: its kind (a runner's name), a target within it, and a fingerprint of its code."""

    kind: str
    target: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One immutable version of a tool. `input_schema` is JSON Schema 2020-12 with an object root.

    `labels` is the ceiling of what results may carry. `summary` is a template over arguments (`{draft_id}`) that says
    the operation in plain words; `promises` maps a status (`ok`, `unknown`, ...) to what a user may be told.
    `facts` names facts of outside sources that policies on this tool read; `secrets` names credentials that only the
    handler is given; `compensate` names the tool that undoes it, and `compensate_arguments` (see `core.compensation`)
    what that one is called with; `locks` are templates over arguments that name what must not be touched at the same
    time. `resource_version` names the argument that says which version of its resource an effect was thought for.
    `fallback` names a tool that may do instead while this one does not work; a `standby` tool is offered only then.
    A tool that `resumes` does only the open items where a call that was done in part is proposed again.
    """

    name: str
    description: str
    input_schema: Document
    handler: Entrypoint
    effect: Effect
    tenant: str = SHARED
    source: str = "python"
    version: str = "1"
    title: str = ""
    use_when: str = ""
    not_for: str = ""
    localized: Mapping[str, Localized] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    output_schema: Document | None = None
    output_check: OutputCheck = OutputCheck.STRICT
    errors: tuple[ErrorContract, ...] = ()
    external: bool = False
    compensate: str = ""
    compensate_arguments: Document | None = None
    reconcile: bool = False
    cancellable: bool = False
    precondition: bool = False
    chosen_by: ChosenBy = ChosenBy.MODEL
    risk: Risk = Risk.LOW
    roles: frozenset[str] = frozenset()
    labels: Labels = NO_LABELS
    owner: str = ""
    business_owner: str = ""
    vendor: Vendor = Vendor()
    cost: Cost = Cost()
    timeout_ms: int = 30_000
    retry: RetryRule = RetryRule()
    idempotency: IdempotencyRule = IdempotencyRule()
    locks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    concurrency: int = 0
    output_bytes_max: int = 262_144
    evidence: EvidenceRule = STATUS_ONLY
    resource: ResourceRule | None = None
    approval_floor: ApprovalFloor | None = None
    summary: str = ""
    promises: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    cache: CacheRule | None = None
    resource_version: str = ""
    fallback: str = ""
    standby: bool = False
    resumes: bool = False

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """`(tenant, source, name, version)`, which is unique."""
        return (self.tenant, self.source, self.name, self.version)


_LATER: Mapping[str, object] = {
    "cache": None,
    "compensate_arguments": None,
    "fallback": "",
    "resource_version": "",
    "resumes": False,
    "standby": False,
}
"""Fields that came after the first versions: at these values they are left out, so that older digests stay."""


DIGESTS_MAX: Final = 131_072
"""Of how many specs it is remembered what their digest is: a catalogue's are asked for several times in a row."""

_digests: dict[int, tuple[ToolSpec, str]] = {}


def spec_digest(spec: ToolSpec) -> str:
    """SHA-256 (hex) over everything that the spec says, handler fingerprint included.

    What is remembered of a spec is remembered beside it, so that its identity is nobody else's.
    """
    return (_digests.get(id(spec)) or _digested(spec, canonical(spec_to_json(spec))))[1]


def spec_to_bytes(spec: ToolSpec) -> bytes:
    """Everything that the spec says, as it is stored: what its digest is over."""
    text = kept(spec_to_json(spec))
    _digested(spec, text)
    return text


def _digested(spec: ToolSpec, text: bytes) -> tuple[ToolSpec, str]:
    if len(_digests) >= DIGESTS_MAX:
        _digests.clear()
    found = _digests[id(spec)] = spec, sha256_hex(text)
    return found


_AS_IT_IS = frozenset({str, int, bool, float, type(None)})


def spec_to_json(value: object) -> Json:
    """A spec, or a part of one, as JSON: what is stored, shown and digested."""
    if type(value) in _AS_IT_IS:
        return cast(Json, value)
    match value:
        case Document():
            return value.value
        case StrEnum():
            return value.value
        case IntEnum():
            return value.name.lower()
        case frozenset():
            return [*sorted(str(each) for each in value)]
        case tuple() | list():
            return [spec_to_json(each) for each in value]
        case Mapping():
            return {str(key): spec_to_json(each) for key, each in value.items()}
        case _:
            fields = getattr(value, "__dataclass_fields__", None)
            if fields is None:
                raise TypeError(f"a spec cannot hold a {type(value).__name__}")
            if isinstance(value, ToolSpec):
                fields = [name for name in fields if name not in _LATER or getattr(value, name) != _LATER[name]]
            return fields_to_json(value, names=fields)


def fields_to_json(value: object, *, names: Iterable[str]) -> dict[str, Json]:
    """Some of a value's fields as JSON. Most are plain, and only the others are looked at."""
    return {name: each if type(each := getattr(value, name)) in _AS_IT_IS else spec_to_json(each) for name in names}
