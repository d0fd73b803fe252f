"""Journals that tests write by hand: a view that is moved entry by entry, as one is that drives a run."""

from interlock import Principal
from interlock.core.observation import Observation, Problem, Status
from interlock.core.refusals import Code
from interlock.loop.agent import Agent
from interlock.loop.entries import Begun, Body, Entry, Moved, Observed, Responded, Wish, Wished
from interlock.loop.limits import RunLimits
from interlock.loop.machine import Cause
from interlock.loop.view import RunView
from interlock.models.dialects import Dialect
from interlock.testing.models import Said, reply_of

ALICE = Principal("acme", "alice")
AGENTS = (Agent("a", "Be good.", hand_offs=("b",)), Agent("b", "Be better."))
READ: Said = ("search", {"query": "x"})


class Journal:
    """One run as it is written; `view` is where it stands."""

    def __init__(self, limits: RunLimits | None = None, *, expires_us: int | None = None) -> None:
        self.entries: list[Entry] = []
        self.view = RunView("acme", "r")
        begun = Begun("Do it.", ALICE, "a", AGENTS, "m", limits or RunLimits(), (), expires_us=expires_us)
        self.write(begun, Cause.BEGUN)

    def write(self, body: Body, *causes: Cause, at_us: int = 0) -> None:
        entry = Entry(body, causes, at_us, len(self.entries) + 1)
        self.entries.append(entry)
        self.view.apply(entry)

    def responds(self, said: Said, *causes: Cause, why: str = "", tokens: int = 30) -> None:
        """The model answers; without causes its calls are to run."""
        raw = reply_of(said, number=len(self.entries)).turn.raw
        responded = Responded("m", Dialect.OPENAI_CHAT.value, self.view.agent.name, raw, tokens=tokens, why=why)
        self.write(responded, *(causes or (Cause.RESPONDED, Cause.CALLED)))

    def observes(self, seen: Observation, *causes: Cause, position: int = 0, fixable: bool = False) -> None:
        """A call ends; without causes it was the last of its turn."""
        last = (Cause.OBSERVED, Cause.ALL_OBSERVED, Cause.RETURNED)
        self.write(Observed(position, seen, "n" * 32, 5, fixable=fixable), *(causes or last))

    def wishes(self, *whats: Wish) -> None:
        for what in whats:
            self.write(Wished(what, "alice"))

    def moves(self, *causes: Cause, at_us: int = 0) -> None:
        self.write(Moved(), *causes, at_us=at_us)


def seen(status: Status = Status.OK, code: Code | None = None, *, tool: str = "search") -> Observation:
    error = None if code is None else Problem(code, "Why.")
    approval = "ap1" if status is Status.WAITING else None
    return Observation("c1", tool, "1", status, b'"x"' if error is None else None, error, approval_id=approval)
