"""Where a run stands, worked out from its journal: the same entries give the same view, in any process, at any time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.canonical import canonical, integral, sha256_hex
from interlock.core.errors import StoreError
from interlock.core.frozen import slotted
from interlock.core.observation import Observation, Status
from interlock.core.refusals import Code
from interlock.loop.agent import Agent, by_name
from interlock.loop.codecs import read_again
from interlock.loop.entries import (
    Begun,
    Ended,
    Entry,
    Faulted,
    HandedOff,
    Moved,
    Observed,
    Responded,
    Said,
    Wish,
    Wished,
)
from interlock.loop.finding import Touched, offered_names, touched
from interlock.loop.machine import Cause, IllegalStep, State, after
from interlock.models.turn import Proposed, Turn

IN_VAIN = frozenset({Status.FAILED, Status.REFUSED})

PASSING = frozenset(
    {Code.RATE_LIMITED, Code.CANCELLED, Code.CONTENDED, Code.IDEMPOTENCY_IN_PROGRESS, Code.DEPENDENCY_NOT_MET}
)
"""What is refused for now, or because of others: that it is refused again says nothing of the call."""

_CARRIED_OUT: Mapping[tuple[State, Cause], Wish] = {
    **{(state, Cause.PAUSED): Wish.PAUSE for state in State},
    **{(state, Cause.HANDED_OVER): Wish.HAND_OVER for state in State},
    (State.PAUSED, Cause.BACK_TO_MODEL): Wish.RESUME,
    (State.PAUSED, Cause.BACK_TO_TOOLS): Wish.RESUME,
    (State.WAITING_HUMAN, Cause.BACK_TO_MODEL): Wish.HAND_BACK,
    (State.WAITING_HUMAN, Cause.BACK_TO_TOOLS): Wish.HAND_BACK,
}
"""The wish that is done with once a run has moved so; all others stand, also those that came while it moved."""

_BACK: Mapping[Wish, tuple[Wish, State]] = {
    Wish.RESUME: (Wish.PAUSE, State.PAUSED),
    Wish.HAND_BACK: (Wish.HAND_OVER, State.WAITING_HUMAN),
}
"""What each of these takes back, and where a run has to be for it to mean anything."""

_TAKEN_BACK: Mapping[Wish, Wish] = {away: back for back, (away, _) in _BACK.items()}

_OTHER_REST: Mapping[Wish, Wish] = {
    Wish.PAUSE: Wish.HAND_OVER,
    Wish.HAND_OVER: Wish.PAUSE,
    Wish.RESUME: Wish.HAND_OVER,
    Wish.HAND_BACK: Wish.PAUSE,
}
"""The rest of the other kind that each of these takes back, where it was wished before and is not carried out."""


# What every entry is compared with: looking a member up in its class costs as much as a call.
_OK, _WAITING, _CALLED, _NOTHING_RAN = Status.OK, Status.WAITING, Cause.CALLED, Cause.NOTHING_RAN


@slotted
class Round:
    """One answer of a model, the calls of it that go to the gate, and what came of those by position so far."""

    responded: Responded
    turn: Turn
    number: int
    calls: tuple[Proposed, ...] = ()
    observed: dict[int, Observed] = field(default_factory=dict)

    @property
    def open(self) -> tuple[Proposed, ...]:
        """The calls of which nothing is known yet."""
        return tuple(call for call in self.calls if call.position not in self.observed)

    @property
    def is_open(self) -> bool:
        """Whether there are any."""
        return len(self.observed) < len(self.calls)

    @property
    def waiting(self) -> tuple[Observed, ...]:
        """What waits for people."""
        return tuple(each for each in self.observed.values() if each.seen.status is _WAITING)


History = Round | Said | HandedOff | Begun


@dataclass(slots=True)
class Spent:
    """What a run has used up so far."""

    rounds: int = 0
    calls: int = 0
    tokens: int = 0
    cost_micros: int = 0
    working_ms: int = 0
    hand_offs: int = 0
    per_tool: Counter[str] = field(default_factory=Counter)

    def so_far(self) -> Spent:
        """The same numbers, to add to; what each tool was called is not among them."""
        return Spent(self.rounds, self.calls, self.tokens, self.cost_micros, self.working_ms, self.hand_offs)

    def charge(self, asked: Responded | Faulted) -> None:
        """Add what one request to a model has used."""
        self.rounds += type(asked) is Responded
        self.tokens += asked.tokens
        self.cost_micros += asked.cost_micros
        self.working_ms += asked.working_ms

    def before(self, answered: Responded) -> Spent:
        """What was used up when the answer was asked for that was charged last."""
        return replace(
            self,
            rounds=self.rounds - 1,
            tokens=self.tokens - answered.tokens,
            cost_micros=self.cost_micros - answered.cost_micros,
            working_ms=self.working_ms - answered.working_ms,
        )


@dataclass(slots=True)
class Trouble:
    """What goes wrong again and again: of each kind, how often in a row, or in all.

    What went wrong several times in one turn counts once: its model has not been told of the first yet. `turns` are
    the numbers of the turns that were counted last. `is_there`: something has gone wrong at some time.
    """

    idle: int = 0
    faults: int = 0
    invented: int = 0
    fixable: Counter[str] = field(default_factory=Counter)
    failing: Counter[str] = field(default_factory=Counter)
    turns: dict[str, int] = field(default_factory=dict)
    is_there: bool = False


class RunView:
    """One run as its entries tell it. `apply` is the only way to change it.

    `agent` is who is at it, of those who may be (`agents`); there is one from its beginning on.
    """

    agent: Agent

    def __init__(self, tenant: str, run_id: str) -> None:
        self.tenant = tenant
        self.id = run_id
        self.state = State.START
        self.version = 0
        self.spent = Spent()
        self.trouble = Trouble()
        self.history: list[History] = []
        self.conversation_at = 0
        self.until_us: int | None = None
        self.since_us = 0
        self.touches: list[Touched] = []
        self.wishes: dict[Wish, Wished] = {}
        self.ended: Ended | None = None
        self.fault = ""
        self.started_us = 0
        self._begun: Begun | None = None
        self._round: Round | None = None
        self.agents: Mapping[str, Agent] = {}

    @property
    def begun(self) -> Begun:
        """What it was started with. Raises `StoreError` where the journal does not say."""
        if self._begun is None:
            raise StoreError(f"the run {self.id} has no beginning")
        return self._begun

    @property
    def round(self) -> Round:
        """The latest answer of a model."""
        if self._round is None:
            raise StoreError(f"no model has answered in the run {self.id}")
        return self._round

    def offered(self, turn: int) -> tuple[str, ...] | None:
        """The names that whoever is at it is offered in a turn, in their order; None: all of its tools."""
        begun = self.begun
        return offered_names(begun, self.touches, agent=self.agent.name, turn=turn) if begun.kept else None

    def apply(self, entry: Entry, *, turn: Turn | None = None) -> None:
        """Take in the next entry. `turn` is what a `Responded` reads as, where it is known. Raises `IllegalStep`."""
        sequence, before, causes, body = entry.sequence, self.state, entry.causes, entry.body
        if sequence != self.version + 1:
            raise IllegalStep(f"what happened after entry {self.version} of the run {self.id} is not in its journal")
        if causes:  # it has gone on; a fault, which moves it too, says so again
            self.fault = ""
            state = self.state = after(before, causes)
            if state is not before:
                self.since_us = entry.at_us
            if self.wishes:
                self._carry_out(before, causes)
        self.version = sequence
        if isinstance(body, Responded):  # what every turn has comes first
            self._hear(body, causes, turn or read_again(body))
        elif isinstance(body, Observed):
            self._observe(body)
        else:
            self._take(body, entry)

    def _carry_out(self, before: State, causes: tuple[Cause, ...]) -> None:
        for cause in causes:
            done = _CARRIED_OUT.get((before, cause))
            if done is not None:
                self.wishes.pop(done, None)

    def _take(self, body: Begun | Faulted | Said | Wished | HandedOff | Moved | Ended, entry: Entry) -> None:
        match body:
            case Begun():
                self._begin(body, entry)
            case Faulted():
                self._fault(body, entry.causes)
            case Said():
                self.history.append(body)
            case Wished():
                self._wish(body)
            case HandedOff():
                self.history.append(body)
                self.conversation_at = len(self.history)
                self.spent.hand_offs += 1
                self.agent = self.agents[body.agent]
            case Moved():
                pass
            case Ended():
                self.ended = body
            case _:
                assert_never(body)

    def _begin(self, begun: Begun, entry: Entry) -> None:
        self._begun = begun
        self.agents = by_name(begun.agents)
        self.agent = self.agents[begun.agent]
        self.started_us = entry.at_us
        self.history.append(begun)
        self.conversation_at = len(self.history)

    def _fault(self, faulted: Faulted, causes: tuple[Cause, ...]) -> None:
        """A model did not answer; or, where it moves nothing, the program could not go on: no fault of the model's."""
        self.fault = faulted.why
        if causes:
            self.until_us = faulted.until_us
            self.trouble.faults += 1
            self.spent.charge(faulted)

    def _hear(self, responded: Responded, causes: tuple[Cause, ...], turn: Turn) -> None:
        self.spent.charge(responded)
        self.trouble.faults = 0
        self.until_us = None
        calls = turn.runnable if _CALLED in causes else ()
        if _NOTHING_RAN in causes and responded.why:
            self.trouble.idle, self.trouble.is_there = self.trouble.idle + 1, True
        else:
            self.trouble.idle = 0
        self._round = Round(responded, turn, self.spent.rounds, calls)
        self.history.append(self._round)
        self.spent.calls += len(calls)

    def _observe(self, observed: Observed) -> None:
        seen, spent, known, begun = observed.seen, self.spent, self.round, self.begun
        if observed.position not in known.observed:
            spent.per_tool[seen.tool] += 1
        known.observed[observed.position] = observed
        spent.working_ms += observed.working_ms
        touch = touched(begun, seen, agent=self.agent.name, turn=known.number) if begun.kept else None
        if touch is not None:
            self.touches.append(touch)
        if seen.status is not _OK or self.trouble.is_there:
            self._note_trouble(observed, seen)

    def _note_trouble(self, observed: Observed, seen: Observation) -> None:
        """What it says of what goes wrong: nothing where all is well, and was."""
        trouble = self.trouble
        trouble.is_there = True
        trouble.invented += observed.invented
        if observed.fixable:
            self._count(trouble.fixable, seen.tool)
        elif seen.status is not _WAITING:
            trouble.fixable.pop(seen.tool, None)
            trouble.turns.pop(seen.tool, None)
        if seen.status in IN_VAIN and not _is_passing(seen):
            self._count(trouble.failing, self._operation(observed))

    def _count(self, what: Counter[str], name: str) -> None:
        number, turns = self.round.number, self.trouble.turns
        if turns.get(name) != number:
            turns[name] = number
            what[name] += 1

    def _operation(self, observed: Observed) -> str:
        """The call by its tool and arguments, however they are spelled."""
        raw = next(each.arguments_raw for each in self.round.calls if each.position == observed.position)
        parsed = parse_arguments(raw)
        spelled = raw.encode("utf-8", "surrogatepass") if isinstance(parsed, Unparsed) else canonical(integral(parsed))
        return sha256_hex(observed.seen.tool.encode("utf-8", "surrogatepass") + b"\0" + spelled)

    def _wish(self, wished: Wished) -> None:
        """The last word holds: going on takes back a rest that was not begun, and the other way round."""
        what = wished.what
        if what in _OTHER_REST:
            self.wishes.pop(_OTHER_REST[what], None)
        if what in _BACK:
            away, there = _BACK[what]
            if self.state is there:
                self.wishes.pop(away, None)
            elif away not in self.wishes:
                return
        elif what in _TAKEN_BACK:
            back = _TAKEN_BACK[what]
            if self.state is not _BACK[back][1]:
                self.wishes.pop(back, None)
            elif back not in self.wishes:
                return
        self.wishes[what] = wished


def _is_passing(seen: Observation) -> bool:
    """Whether what went wrong is for later, or for others, and says nothing of the call."""
    return seen.error is not None and seen.error.code in PASSING
