"""What a turn means for its run, and whether a run may go on: pure, from the view and the turn alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interlock.core.call import storable
from interlock.loop.entries import Ended
from interlock.loop.limits import RunLimits
from interlock.loop.machine import RESTING, Cause, State
from interlock.loop.view import RunView, Spent
from interlock.models.turn import Ended as TurnEnded
from interlock.models.turn import Turn

LAST_TURN = (
    "This is your last turn: no tools can be called any more ({left}). Answer now with what you have, and say what is "
    "not done."
)
ASKS = frozenset({State.MODEL_REQUEST, State.MODEL_RETRY})

_WHY: dict[TurnEnded, str] = {
    TurnEnded.TRUNCATED: "it was cut off before it was whole, and nothing of it was run.",
    TurnEnded.MODEL_ERROR: "it was spoilt, and nothing of it was run.",
    TurnEnded.DROPPED: "it broke off before it was whole, and nothing of it was run.",
    TurnEnded.IN_PROGRESS: "it was not finished.",
}


def judged(turn: Turn, *, last: LastTurn | None) -> tuple[Cause, str]:
    """What a turn does to its run, and why where that needs a word. `last`: no calls may be made any more."""
    match turn.ended:
        case TurnEnded.CALLS_ALLOWED if last is not None:
            return Cause.OVER_LIMIT, f"It called tools in its last turn: {last.limits}."
        case TurnEnded.CALLS_ALLOWED if turn.runnable:
            return Cause.CALLED, ""
        case TurnEnded.CALLS_ALLOWED:
            return Cause.NOTHING_RAN, "none of its calls was whole."
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
    for reason, why in _broken(view, view.begun.limits, now_us):
        return Cause.OVER_LIMIT, Ended(reason, why)
    for tool, times in view.trouble.fixable.items():
        if times > view.begun.limits.fixable:
            return Cause.GAVE_UP, Ended("fixable", f"Calls of {tool[:128]} were refused {times} times in a row.")
    return None


def _broken(view: RunView, limits: RunLimits, now_us: int) -> Iterator[tuple[str, str]]:
    spent, trouble = view.spent, view.trouble
    if view.begun.expires_us is not None and now_us >= view.begun.expires_us:
        yield "expired", "Its time is over."
    if view.state in RESTING and limits.waits_s is not None and now_us - view.since_us > limits.waits_s * 1_000_000:
        yield "waits_s", f"It waited for people for more than {limits.waits_s:g} seconds."
    if trouble.invented > limits.invented:
        yield "invented", f"{trouble.invented} names were called that no tool has."
    repeated = max(trouble.failing.values(), default=0)
    if repeated >= limits.repeats > 0:
        yield "repeats", f"One and the same call failed {repeated} times."
    if trouble.idle > limits.idle:
        yield "idle", f"{trouble.idle} turns in a row came to nothing."
    if spent.hand_offs > limits.hand_offs:
        yield "hand_offs", f"The task was handed on {spent.hand_offs} times."
    if view.state in ASKS:
        yield from ((name, f"It has used up its {name}: {used} of {most}.") for name, used, most in _used_up(view))


def _used_up(view: RunView) -> Iterator[tuple[str, float, float]]:
    """What leaves no room for another request."""
    limits, spent = view.begun.limits, view.spent
    for name, used, most in (
        ("rounds", spent.rounds, limits.rounds),
        ("tokens", spent.tokens, limits.tokens),
        ("cost_micros", spent.cost_micros, limits.cost_micros),
        ("working_s", spent.working_ms / 1_000, limits.working_s),
    ):
        if most is not None and used >= most:
            yield name, used, most


@dataclass(frozen=True, slots=True)
class LastTurn:
    """Why a turn is the last of its run: `limit` is the first limit that makes it so, `limits` are all in words, and
    `note` is what the model is told."""

    limit: str
    limits: str
    note: str


def last_turn(view: RunView, spent: Spent | None = None) -> LastTurn | None:
    """Whether the next turn is the last one, or the one before which so much was spent; None where it is not."""
    found = tuple(_last(view.begun.limits, spent or view.spent))
    if not found:
        return None
    limits = ", ".join(f"{name} (at most {most:g})" for name, most, _ in found)
    return LastTurn(found[0][0], limits, LAST_TURN.format(left=", ".join(left for *_, left in found)))


def _last(limits: RunLimits, spent: Spent) -> Iterator[tuple[str, float, str]]:
    """The limits that leave room for one turn alone: name, the most there may be, and what is left of it in words."""
    if limits.rounds is not None and limits.rounds - spent.rounds <= 1 and limits.rounds > 1:
        yield "rounds", limits.rounds, "no further turn"
    if limits.calls is not None and spent.calls >= limits.calls:
        yield "calls", limits.calls, "no further call"
    for name, used, most in (
        ("tokens", spent.tokens, limits.tokens),
        ("cost_micros", spent.cost_micros, limits.cost_micros),
    ):
        mean = used / spent.rounds if spent.rounds else 0
        if most is not None and spent.rounds and used + 2 * mean > most:
            yield name, most, f"{most - used:g} of {most:g} {name.removesuffix('_micros')} left"


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
