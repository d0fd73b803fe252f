"""What a person at the command line may do next, for every code that a call or an act is refused with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from interlock.core.refusals import Code

APPROVALS: Final = "`interlock approvals list --all` shows which there are and how they stand."
OTHER: Final = "Let somebody else do it, with --as ID: [[people]] in interlock.toml says who is in which groups."
QUOTED: Final = 'Give the arguments as one JSON object in single quotes, such as \'{"id": "a1"}\'.'

_REACH: Final = "Name its host under egress_allow in [interlock] of interlock.toml, if tools may reach it."

_STEPS: Final[Mapping[Code, str]] = {
    Code.INVALID_JSON: "Change that in the arguments, then call again.",
    Code.TOOL_NOT_FOUND: "`interlock tools list` shows what there is, `interlock tools show {tool}` where its versions"
    " stand, `interlock policy explain {tool}` why not more.",
    Code.TOOL_NOT_ALLOWED: "`interlock tools list` shows what this person may call.",
    Code.TOOL_FROZEN: "`interlock tools release {tool} --reason WHY` opens it again; where a stop closes it,"
    " `interlock tools stops` shows which.",
    Code.TOOL_RETIRED: "Call what takes its place, if anything does: `interlock tools list` shows what there is.",
    Code.TOOL_QUARANTINED: "`interlock import sync` shows what an imported tool drifted to: renew its snapshot and"
    " review it. What is quarantined otherwise `interlock tools release {tool} --reason WHY` opens, once somebody has"
    " looked at it.",
    Code.TOOL_ARGUMENT_INVALID: "`interlock tools show {tool}` shows its arguments.",
    Code.CONTEXT_MISSING: "Call it from a program that has the value: the command line has none to give.",
    Code.PERMISSION_DENIED: "`interlock policy explain {tool} ARGUMENTS` shows why.",
    Code.APPROVAL_REQUIRED: "`interlock approvals approve {approval} --as ID --run`.",
    Code.APPROVAL_DENIED: "It stays declined in its run. " + APPROVALS,
    Code.APPROVAL_EXPIRED: "Call the tool again if it is still wanted: it is asked for afresh.",
    Code.APPROVAL_MISMATCH: APPROVALS,
    Code.BUDGET_EXHAUSTED: "`interlock usage` shows what was spent; [[limits]] says how much may be.",
    Code.RATE_LIMITED: "Wait a moment, then call again; [[limits]] says how much may be.",
    Code.REPEATED_CALL: "Repeating it brings nothing new; [[limits]] says how often it may be repeated.",
    Code.IDEMPOTENCY_REQUIRED: "Say what it is for, with --task NAME or --key KEY: then it happens once.",
    Code.IDEMPOTENCY_CONFLICT: "Give another --task or --key if this is meant to be a new operation.",
    Code.IDEMPOTENCY_IN_PROGRESS: "Call again in a moment: the answer is then that of the call that is running.",
    Code.PRECONDITION_FAILED: "Look how things stand, then decide anew.",
    Code.DEPENDENCY_NOT_MET: "Call it again once the earlier call has succeeded.",
    Code.DEADLINE_EXCEEDED: "Call it again.",
    Code.RUN_ENDED: "Name another --run: in this one nothing more can be called.",
    Code.CANCELLED: "Call it again if it is still wanted.",
    Code.CONTENDED: "Give the command again.",
    Code.TOOL_UNAVAILABLE: "Call it again later.",
    Code.TOOL_TIMEOUT: "Call it again later, or for less.",
    Code.TOOL_ERROR: "The tool says what is wrong: change that, then call again.",
    Code.TOOL_EXCEPTION: "INTERLOCK_DEBUG=1 in front of the command shows where the tool's code failed.",
    Code.OUTPUT_INVALID: "Do not call it again, it was executed: mend what the tool returns.",
    Code.OUTCOME_UNKNOWN: "Do not repeat it: `interlock recover` looks it up, `interlock calls close` settles it.",
}


def step_for(code: Code, *, tool: str = "", approval: str | None = None) -> str:
    """The next step after this code, for a tool by its name and the approval that it waits for."""
    return _STEPS[code].format(tool=shlex.quote(tool) if tool else "NAME", approval=approval or "ID")


def step_to_nearest(name: str) -> str:
    """The next step after a name that there is not, where one that the caller may see is near it."""
    return (
        f"`interlock tools show {shlex.quote(name)}` shows the nearest, if that was meant; `interlock tools list` shows"
        " what there is."
    )


def either(names: Sequence[str]) -> str:
    """`did you mean this, that or that?`."""
    *first, last = names
    return f"did you mean {', '.join(first)} or {last}?" if first else f"did you mean {last}?"


def step_after_silence(message: str) -> str:
    """The next step where no answer came: waiting opens no address that the project does not let tools reach."""
    return _REACH if "egress_allow" in message else _STEPS[Code.TOOL_UNAVAILABLE]


def step_after_json(message: str) -> str:
    """The next step after arguments that are refused: about quotes only where quotes may be what is wrong."""
    return QUOTED if "valid JSON" in message or "JSON value" in message else _STEPS[Code.INVALID_JSON]
