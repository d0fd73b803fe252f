"""Every setting of one Interlock, frozen: what a host may choose, with what it means and its default."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.core.budget import Limits


@dataclass(frozen=True, slots=True)
class Settings:
    """How one gate behaves. Times say their unit; a value that cannot be used raises `SettingsInvalid` at opening.

    - `environment`: what policies see as `context.environment`, such as `production`.
    - `limits`: budgets; absent means unlimited, zero means none.
    - `deadline_ms`: the deadline of a call whose caller gives none.
    - `facts_timeout_ms`: how long facts from outside may take before a policy that reads them denies.
    - `threads_max`: how many synchronous tools may run at once.
    - `secrets`: values that must never be shown anywhere, besides those that handlers are given.
    - `tenant`: the installation's own tenant, that of the embedded host's acts (registering tools, saving policies).
      Only its operators act on what is shared by all tenants.
    """

    environment: str = "development"
    limits: Limits = field(default_factory=Limits)
    deadline_ms: int = 120_000
    facts_timeout_ms: int = 2_000
    threads_max: int = 32
    secrets: tuple[str, ...] = ()
    tenant: str = "default"
