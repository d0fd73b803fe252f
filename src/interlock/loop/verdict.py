"""What a turn means for its run, and whether a run may go on: pure, from the view and the turn alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.core.call import storable
from interlock.loop.entries import Ended
from interlock.loop.limits import RunLimits
from interlock.loop.machine import RESTING, Cause, State
from interlock.loop.view import RunView, Spent, Trouble
from interlock.models.turn import Ended as TurnEnded
from interlock.models.turn import Turn

LAST_TURN = (
    "This is your last turn: no tools can be called any more ({left}). Answer now with what you have, and say what is "
    "not done."
)
ASKS = frozenset({State.MODEL_REQUEST, State.MODEL_RETRY})

# What every turn is compared with: looking a member up in its class costs as much as a call.
_CALLS_ALLOWED, _CALLED = TurnEnded.CALLS_ALLOWED, Cause.CALLED

_WHY: dict[TurnEnded, str] = {
    TurnEnded.TRUNCATED: "it was cut off before it was whole, and nothing of it was run.",
    TurnEnded.MODEL_ERROR: "it was spoilt, and nothing of it was run.",
    TurnEnded.DROPPED: "it broke off before it was whole, and nothing of it was run.",
    TurnEnded.IN_PROGRESS: "it was not finished.",
}


def judged(turn: Turn, *, last: LastTurn | None) -> tuple[Cause, str]:
    """What a turn does to its run, and why where that needs a word. `last`: no calls may be made any more."""
    if turn.ended is _CALLS_ALLOWED and last is None:
        return (_CALLED, "") if turn.runnable else (Cause.NOTHING_RAN, "none of its calls was whole.")
    match turn.ended:
        case TurnEnded.CALLS_ALLOWED if last is not None:
            return Cause.OVER_LIMIT, f"It called tools in its last turn: {last.limits}."
        case TurnEnded.ANSWER if last is not None:
            return Cause.ANSWERED, f"It answered in its last turn: {last.limits}."
        case TurnEnded.ANSWER:
            return Cause.ANSWERED, ""
        case TurnEnded.REFUSED:
            return Cause.REFUSED, storable(turn.reason) or "The model refused."
        case TurnEnded.PAUSED:
            return Cause.NOTHING_RAN, ""
        case TurnEnded.HTTP_ERROR | TurnEnded.ERROR:
            return Cause.GAVE_UP, storable(turn.reason) or "The model's server refused the request."
        case _:
            return Cause.NOTHING_RAN, _WHY[turn.ended]


def over(view: RunView, *, now_us: int) -> tuple[Cause, Ended] | None:
    """The limit that a run has run into, if it has: it ends there, whatever it is at."""
    begun, trouble, state = view.begun, view.trouble, view.state
    expires_us = begun.expires_us
    broken = None
    if expires_us is not None and now_us >= expires_us:
        broken = "expired", "Its time is over."
    elif state in RESTING:
        broken = _waited(begun.limits, now_us - view.since_us)
    if broken is None and (trouble.is_there or view.spent.hand_offs):
        broken = _in_trouble(begun.limits, view.spent, trouble)
    if broken is None and state in ASKS:
        broken = _used_up(begun.limits, view.spent)
    if broken is not None:
        return Cause.OVER_LIMIT, Ended(*broken)
    for tool, times in trouble.fixable.items() if trouble.is_there else ():
        if times > begun.limits.fixable:
            return Cause.GAVE_UP, Ended("fixable", f"Calls of {tool[:128]} were refused {times} times in a row.")
    return None


def _waited(limits: RunLimits, waited_us: int) -> tuple[str, str] | None:
    if limits.waits_s is None or waited_us <= limits.waits_s * 1_000_000:
        return None
    return "waits_s", f"It waited for people for more than {limits.waits_s:g} seconds."


def _in_trouble(limits: RunLimits, spent: Spent, trouble: Trouble) -> tuple[str, str] | None:
    """The first limit of what goes wrong, or goes on and on."""
    if trouble.invented > limits.invented:
        return "invented", f"{trouble.invented} names were called that no tool has."
    repeated = max(trouble.failing.values()) if trouble.failing else 0
    if repeated >= limits.repeats > 0:
        return "repeats", f"One and the same call failed {repeated} times."
    if trouble.idle > limits.idle:
        return "idle", f"{trouble.idle} turns in a row came to nothing."
    if spent.hand_offs > limits.hand_offs:
        return "hand_offs", f"The task was handed on {spent.hand_offs} times."
    return None


def _used_up(limits: RunLimits, spent: Spent) -> tuple[str, str] | None:
    """The first limit that leaves no room for another request."""
    if limits.rounds is not None and spent.rounds >= limits.rounds:
        return _spent_all("rounds", spent.rounds, limits.rounds)
    if limits.tokens is not None and spent.tokens >= limits.tokens:
        return _spent_all("tokens", spent.tokens, limits.tokens)
    if limits.cost_micros is not None and spent.cost_micros >= limits.cost_micros:
        return _spent_all("cost_micros", spent.cost_micros, limits.cost_micros)
    if limits.working_s is not None and spent.working_ms >= limits.working_s * 1_000:
        return _spent_all("working_s", spent.working_ms / 1_000, limits.working_s)
    return None


def _spent_all(name: str, used: float, most: float) -> tuple[str, str]:
    return name, f"It has used up its {name}: {used} of {most}."


@dataclass(frozen=True, slots=True)
class LastTurn:
    """Why a turn is the last of its run: `limit` is the first limit that makes it so, `limits` are all in words, and
    `note` is what the model is told."""

    limit: str
    limits: str
    note: str


def last_turn(view: RunView, spent: Spent | None = None) -> LastTurn | None:
    """Whether the next turn is the last one, or the one before which so much was spent; None where it is not."""
    found = _last(view.begun.limits, spent or view.spent)
    if not found:
        return None
    limits = ", ".join(f"{name} (at most {most:g})" for name, most, _ in found)
    return LastTurn(found[0][0], limits, LAST_TURN.format(left=", ".join(left for *_, left in found)))


def _last(limits: RunLimits, spent: Spent) -> list[tuple[str, float, str]]:
    """The limits that leave room for one turn alone: name, the most there may be, and what is left of it in words."""
    found: list[tuple[str, float, str]] = []
    if limits.rounds is not None and limits.rounds - spent.rounds <= 1 and limits.rounds > 1:
        found.append(("rounds", limits.rounds, "no further turn"))
    if limits.calls is not None and spent.calls >= limits.calls:
        found.append(("calls", limits.calls, "no further call"))
    if limits.tokens is not None and _is_nearly_spent(spent.tokens, limits.tokens, rounds=spent.rounds):
        left = f"{limits.tokens - spent.tokens:g} of {limits.tokens:g} tokens left"
        found.append(("tokens", limits.tokens, left))
    if limits.cost_micros is not None and _is_nearly_spent(spent.cost_micros, limits.cost_micros, rounds=spent.rounds):
        left = f"{limits.cost_micros - spent.cost_micros:g} of {limits.cost_micros:g} cost left"
        found.append(("cost_micros", limits.cost_micros, left))
    return found


def _is_nearly_spent(used: int, most: int, *, rounds: int) -> bool:
    """Whether two more turns, each as the mean of those before, are more than there may be."""
    return rounds > 0 and used + 2 * used / rounds > most


def is_near(view: RunView) -> bool:
    """Whether a call of the latest turn may be more than the run may make; else none is, and nobody need look."""
    limits = view.begun.limits
    return bool(limits.calls_per_tool) or (limits.calls is not None and view.spent.calls > limits.calls)


def calls_over(view: RunView, calls: Sequence[tuple[int, str]]) -> dict[int, str]:
    """The calls of the latest turn that are more than the run may make, by position, with the limit that each is over.

    `calls` are position and tool of each, however its model has spelled it. In all they are counted already; by tool
    those are of which something is known.
    """
    limits, spent = view.begun.limits, view.spent
    found: dict[int, str] = {}
    made, per_tool = spent.calls - len(calls), spent.per_tool.copy()
    per_tool.subtract(each.seen.tool for each in view.round.observed.values())
    for position, tool in calls:
        made += 1
        per_tool[tool] += 1
        most = limits.calls_per_tool.get(tool)
        if limits.calls is not None and made > limits.calls:
            found[position] = f"calls: {limits.calls} of {limits.calls}"
        elif most is not None and per_tool[tool] > most:
            found[position] = f"calls of {tool[:128]}: {most} of {most}"
    return found
