"""The words of authorization: what a policy is, what is asked of it, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from interlock.core.approval import Requirement
from interlock.core.call import LIBRARY, Origin, Principal
from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.core.resource import Resource
from interlock.core.run import NO_RUN, RunFacts
from interlock.core.tool import SHARED, ToolSpec


class Mode(StrEnum):
    """Whether a policy decides, or is only written down beside the decision."""

    ENFORCE = "enforce"
    LOG_ONLY = "log_only"


@dataclass(frozen=True, slots=True)
class PolicySource:
    """One file of Cedar policies. `name` is the file's stem; a source of a tenant decides for its principals only.

    The mode may be given as text; one that there is not raises `ValueError`, or a policy that is meant to decide would
    only be written down.
    """

    name: str
    text: str
    mode: Mode = Mode.ENFORCE
    tenant: str = SHARED

    def __post_init__(self) -> None:
        object.__setattr__(self, "mode", Mode(self.mode))


class Answer(StrEnum):
    """What policy says to one call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Visibility(StrEnum):
    """Whether a tool may be called at all, before its arguments are known."""

    NEVER = "never"
    MAYBE = "maybe"
    ALWAYS = "always"


@frozen
class Verdict:
    """An answer with its reasons.

    `policies` are the stable ids of those that decided, sorted. `redact` names argument and result fields that must be
    redacted. `reason` is a plain sentence. `log_only` says what the log-only policies would have made of it, and is
    empty where that is the same.
    """

    answer: Answer
    policies: tuple[str, ...] = ()
    slice_digest: str = ""
    requirement: Requirement | None = None
    redact: frozenset[str] = frozenset()
    reason: str = ""
    log_only: str = ""


@frozen
class PolicyRequest:
    """All that a decision may see. `arguments` are the final ones, decoded; only what a slice reads is looked at."""

    principal: Principal
    spec: ToolSpec
    arguments: Mapping[str, Json]
    resource: Resource | None = None
    run: RunFacts = NO_RUN
    origin: Origin = LIBRARY
    now_us: int = 0
    environment: str = ""
    facts: Mapping[str, Json] = field(default_factory=dict)


class Outcome(StrEnum):
    """What became of one policy. NOT_ASKED: the request was denied before the engine was asked."""

    SATISFIED = "satisfied"
    NOT_SATISFIED = "not satisfied"
    ERROR = "error"
    NOT_ASKED = "not asked"


@frozen
class PolicyTrace:
    """One policy of a slice in one decision, with the paths that it reads, such as `context.args.path`."""

    policy: str
    effect: str
    mode: Mode
    outcome: Outcome
    reads: tuple[str, ...]


@frozen
class Explanation:
    """A verdict, and every policy that was looked at for it."""

    verdict: Verdict
    policies: tuple[PolicyTrace, ...]


@frozen
class Impact:
    """A tool version whose rules change for `tenant` (`*`: all tenants that have no policies of their own)."""

    tool: str
    version: str
    tenant: str
    before: str
    after: str
