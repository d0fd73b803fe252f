"""What happens in a simulated stretch of time: lives of a process, in each of them acts of callers and approvers."""

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from hypothesis import strategies as st

from interlock import Limit, Limits, ScopeKind, Unit
from tests.simulation.world import TOOLS, Mood


class Does(StrEnum):
    """What somebody does."""

    CALL = "call"
    CANCEL = "cancel"  # an earlier act
    APPROVE = "approve"
    DECLINE = "decline"
    WITHDRAW = "withdraw"
    RESUME = "resume"
    REVOKE = "revoke"  # a policy that forbids a tool
    RESTORE = "restore"
    RECOVER = "recover"
    LOSE_LEASE = "lose lease"  # others may take over what this process still works on


@dataclass(frozen=True)
class Act:
    """One act. What each number means depends on what is done: which tool, name, task, approval, or earlier act."""

    does: Does
    tool: int = 0
    name: int = 0
    task: int = 0
    run: int = 0

    @property
    def tool_name(self) -> str:
        """The tool that is called or forbidden."""
        return TOOLS[self.tool % len(TOOLS)].name


@dataclass(frozen=True)
class Life:
    """What goes on at once in one process, until it ends or is killed at a step."""

    acts: tuple[Act, ...]
    crash_at: int | None


@dataclass(frozen=True)
class Plan:
    """Everything that decides how a simulation goes."""

    seed: int
    lives: tuple[Life, ...]
    moods: tuple[Mood, ...]
    limits: Limits


COST_MAX = 25
RATE_WINDOW_S = 60

LIMITS = {
    "none": Limits(),
    "cost": Limits((Limit(ScopeKind.TENANT, Unit.COST_MICROS, COST_MAX),)),
    "one at once": Limits((Limit(ScopeKind.TOOL, Unit.CONCURRENT, 1),)),
    "all": Limits(
        (
            Limit(ScopeKind.TENANT, Unit.COST_MICROS, COST_MAX),
            Limit(ScopeKind.PRINCIPAL, Unit.CONCURRENT, 2),
            Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 8, RATE_WINDOW_S),
            Limit(ScopeKind.RUN, Unit.CALLS, 6),
        )
    ),
}

_SOME = st.integers(0, 2)
_CALL = st.builds(Act, st.just(Does.CALL), st.integers(0, 5), st.integers(0, 1), st.integers(0, 1), _SOME)
_ANY = st.builds(Act, st.sampled_from([each for each in Does if each is not Does.LOSE_LEASE]), _SOME, _SOME)
_MIXED = st.lists(st.one_of(_CALL, _CALL, _ANY), min_size=1, max_size=6).map(tuple)
_DISTURBS = st.sampled_from([Does.CALL, Does.CANCEL, Does.CANCEL, Does.REVOKE, Does.RECOVER, Does.RECOVER])


@st.composite
def _twins(draw: st.DrawFn) -> tuple[Act, ...]:
    """The same call several times at once, and something that comes in between."""
    call = Act(Does.CALL, draw(st.sampled_from([0, 1, 2, 3, 5])))
    disturbs = [replace(call, does=does) for does in draw(st.lists(_DISTURBS, max_size=3))]
    return (*[call] * draw(st.integers(2, 3)), *disturbs)


@st.composite
def _asked(draw: st.DrawFn) -> tuple[Act, ...]:
    """A question, answered and resumed by several people at once, with another on its key, and perhaps taken back."""
    call = Act(Does.CALL, 4, run=draw(_SOME))
    last = draw(st.sampled_from([Does.CALL, Does.APPROVE, Does.WITHDRAW, Does.DECLINE, Does.REVOKE, Does.CANCEL]))
    answers = [replace(call, does=does) for does in (Does.APPROVE, Does.RESUME, Does.RESUME, last)]
    return (call, replace(call, run=draw(_SOME)), *answers)


_SCENES = st.lists(st.one_of(_twins(), _asked(), _MIXED), min_size=1, max_size=3)
_ACTS = _SCENES.map(lambda scenes: tuple(chain.from_iterable(scenes)))
_MOODS = st.lists(st.sampled_from(Mood), max_size=8).map(tuple)
_LIVES = st.lists(st.builds(Life, _ACTS, st.one_of(st.none(), st.integers(1, 160))), min_size=1, max_size=3).map(tuple)

PLANS = st.builds(Plan, st.integers(0, 2**32), _LIVES, _MOODS, st.sampled_from(sorted(LIMITS)).map(LIMITS.__getitem__))

_LOST = st.builds(lambda acts: Life((*acts, Act(Does.LOSE_LEASE)), None), st.one_of(_twins(), _asked(), _MIXED))

STALLED = st.builds(Plan, st.integers(0, 2**32), st.tuples(_LOST), _MOODS, st.just(LIMITS["cost"]))
"""Plans in which a process goes on although others may take over its calls."""
