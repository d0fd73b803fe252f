"""What a person may do where a version could not be moved: about what stands in the way, and nothing else."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from interlock.core.lifecycle import MOVES, OPEN, Lifecycle, Need
from interlock.core.retirement import day

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.core.move_gates import Halt

OTHERWISE: Final = "Change that, then give the command again. `interlock tools show NAME` says where versions stand."

_DECLARED: Final[Mapping[Need, str]] = {
    Need.OWNER: "its owner (owner)",
    Need.SCHEMAS: "what it gives (the type that it returns, or output_schema)",
    Need.IDEMPOTENCY: "which arguments make two calls the same effect (idempotency)",
    Need.CANCELLATION: "how a call is cancelled or looked up (cancellable, reconcile)",
    Need.ERRORS: "its error codes (errors)",
    Need.AUDIT_FIELDS: "what the log needs (labels, and resource or evidence)",
}
"""Needs that the contract of a version has to meet: what a new version of the tool has to declare."""

_DONE: Final[Mapping[Need, str]] = {
    Need.REASON: "Say why, with --reason.",
    Need.EXAMPLES: "`interlock tools test {tool} --publish` runs its examples and keeps what came of them.",
    Need.REVIEW: "`interlock tools sign-off {tool} --version {version} --reason WHY --as ID` is for somebody who"
    " neither published nor moves it.",
    Need.ROLLBACK: "Say the way back, with --rollback.",
    Need.NOTICE: "`interlock tools retire {tool} --version {version} --on DAY --reason WHY` announces it.",
    Need.CONFIRMATION: "`interlock tools confirm {tool} --version {version} --reason WHY` is for its owner.",
}
"""Needs that people meet."""

_UNANNOUNCED: Final = (
    "`interlock tools retire {tool} --version {version} --on DAY --reason WHY` announces it, and takes a --replacement."
    " Without one it is retired as it is; `interlock tools replace {tool} OTHER --version {version} --reason WHY` says"
    " then what takes its place."
)
_HELD: Final = (
    "`interlock tools promote {tool} --newest --reason WHY` lets the name mean the version published last, or"
    " `interlock tools promote {tool} VERSION --reason WHY` another; then give the command again."
)
_PROMISED: Final = (
    "Give the command again on {day}; `interlock tools keep {tool} --reason WHY` takes the announcement back."
)


def step_of(halt: Halt | None) -> str:
    """The next step where `MoveRefused` says what halted a move, and where it does not."""
    if halt is None:
        return OTHERWISE
    if halt.promoted:
        return _filled(_HELD, halt)
    words = [*_stops(halt), *(_of_gate(halt) if halt.lacking else [_of_place(halt)])]
    return " ".join(words)


def _stops(halt: Halt) -> list[str]:
    return [f"`interlock tools release --stop {shlex.quote(each)} --reason WHY` lifts a stop." for each in halt.stops]


def _of_gate(halt: Halt) -> list[str]:
    """What meets each need, and which may be gone without."""
    words = [_filled(_met(need, halt), halt) for need in halt.lacking if need not in _DECLARED]
    declared = [_DECLARED[need] for need in halt.lacking if need in _DECLARED]
    if declared:
        words.append(f"Declare in a new version of the tool {'; '.join(declared)}.")
    gate = None if halt.to is None else MOVES[halt.state].get(halt.to)
    waivable = [need for need in halt.lacking if gate is not None and need in gate.waivable]
    if waivable:
        given = " ".join(f"--waive {shlex.quote(need.value)}=WHY" for need in waivable)
        words.append(f"{given} goes without, in your name.")
    return words


def _met(need: Need, halt: Halt) -> str:
    if need is Need.NOTICE and halt.to is None:
        return _UNANNOUNCED
    return _PROMISED if need is Need.NOTICE and halt.retires_us is not None else _DONE[need]


def _of_place(halt: Halt) -> str:
    """Where a version may go from where it stands."""
    shown = _filled("`interlock tools show {tool}` says where its versions stand", halt)
    if halt.state is Lifecycle.RETIRED:
        return f"Retired is for good: publish a new version. {shown}."
    if halt.state is halt.to or (halt.to is None and halt.state in OPEN):
        return f"{shown}."
    ways = [each.value for each in MOVES[halt.state] if each is not Lifecycle.RETIRED]
    moves = _filled("`interlock tools move {tool} STATE --version {version} --reason WHY`", halt)
    return f"{moves} leads from {halt.state.value} to {', '.join(ways)}. {shown}."


def _filled(words: str, halt: Halt) -> str:
    when = "" if halt.retires_us is None else day(halt.retires_us)
    return words.format(tool=shlex.quote(halt.tool), version=shlex.quote(halt.version), day=when)
