"""What a run may use up before it ends, and how much of it is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast

from interlock.core.budget import Limits, ScopeKind, Unit
from interlock.core.errors import SettingsInvalid

DAY_S = 24 * 60 * 60
SECONDS_MAX = 100 * 366 * DAY_S
AMOUNT_MAX = 2**53


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of one run, beside those that the installation sets for its agent, principal and tenant.

    None means no limit of that kind. A run that reaches one ends ABORTED with a reason, after one last turn in which
    the model is told that it has to answer with what it has.

    - `rounds`: requests to a model that were answered.
    - `calls`: proposals of calls; `calls_per_tool`: of one tool, by name.
    - `tokens`: in and out together, as the provider reports them; where it reports none, the most there can have been.
    - `cost_micros`: what the model costs, by the price that it was given, in millionths of the currency unit.
    - `working_s`: seconds in which a model was asked or calls ran; waiting for people does not count.
    - `expires_s`: seconds from the start after which the run ends, whatever it waits for.
    - `waits_s`: seconds that it waits for people at a time.
    - `fixable`: how often in a row one tool's call may be refused for what the model can mend (its arguments, the
      name), before the run fails.
    - `repeats`: how often one and the same call may fail, before the run ends.
    - `invented`: how many names that no tool has may be called.
    - `idle`: how many turns in a row may come to nothing: cut off, spoilt, or calls in a way that cannot be run.
    - `faults`: how often in a row asking the model may fail for what passes by itself.
    - `hand_offs`: how often the task may be handed to another agent.
    """

    rounds: int | None = 50
    calls: int | None = 200
    calls_per_tool: Mapping[str, int] = field(default_factory=dict)
    tokens: int | None = None
    cost_micros: int | None = None
    working_s: float | None = None
    expires_s: float | None = 30 * DAY_S
    waits_s: float | None = None
    fixable: int = 3
    repeats: int = 3
    invented: int = 5
    idle: int = 3
    faults: int = 5
    hand_offs: int = 10

    def __post_init__(self) -> None:
        for each in fields(self):
            given: object = getattr(self, each.name)
            numbers = cast("Mapping[object, object]", given).values() if isinstance(given, Mapping) else [given]
            most = SECONDS_MAX if each.name.endswith("_s") else AMOUNT_MAX
            if not all(number is None or _is_amount(number, most) for number in numbers):
                said = f"a number from 0, or None, not {given!r}; the most is {most}"
                raise SettingsInvalid(f"limits: {each.name} is {said}")
            if each.name.endswith("_s") and given is not None:
                object.__setattr__(self, each.name, float(cast("float", given)))

    @staticmethod
    def of(given: RunLimits | Limits | None) -> RunLimits:
        """Limits as they were given to a run: of its own kind, or `Limits` on the scope `run`.

        Raises `SettingsInvalid` for a limit of `Limits` that is not the run's own: the installation sets those.
        """
        if given is None:
            return USUAL
        if isinstance(given, RunLimits):
            return given
        found: dict[str, Any] = {}
        for limit in given.limits:
            name = _NAMES.get((limit.scope, limit.unit))
            if name is None or limit.window_s:
                raise SettingsInvalid(
                    f"limits: a run has no limit of {limit.unit.value} on {limit.scope.value}; "
                    "set that in Settings(limits=...)"
                )
            found[name] = limit.amount / 1_000 if name == "working_s" else limit.amount
        return RunLimits(**found)


_NAMES: Mapping[tuple[ScopeKind, Unit], str] = {
    (ScopeKind.RUN, Unit.ROUNDS): "rounds",
    (ScopeKind.RUN, Unit.CALLS): "calls",
    (ScopeKind.RUN, Unit.TOKENS): "tokens",
    (ScopeKind.RUN, Unit.COST_MICROS): "cost_micros",
    (ScopeKind.RUN, Unit.WORKING_MS): "working_s",
}


def _is_amount(number: object, most: int) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= most


USUAL = RunLimits()
"""Those of a run that is given none of its own."""
