"""One task at the gate: every call of it is proposed here, shown with what came of it, and remembered by the store.

The task's id follows from the question and the folder, so a program that starts again finds where it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from documents import Passage
from people import BOB, agent
from prompts import SAVE_NAME, SEARCH_NAME
from quotations import NoSuchPassage, quoted
from screen import Screen

from interlock import Approval, Caller, Gate, Observation, Origin, Status, ToolCall
from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.canonical import Json, integral

PROGRAM = "the program"
SEARCHED = "The search is on record; no draft waits for approval yet."
NONE_CHOSEN = "No passage was chosen."


def task_of(question: str, *, docs: Path) -> str:
    """The same question over the same folder is the same task."""
    digest = sha256(f"{docs}\n{question}".encode()).hexdigest()
    return f"research-{digest[:10]}"


@dataclass(slots=True)
class Session:
    """One task in one start of the program. `passages` are those of the run's latest search."""

    gate: Gate
    screen: Screen
    task: str
    question: str
    home: Path
    passages: tuple[Passage, ...] = ()
    model_tokens: int = 0
    turn: int = 0
    start: str = field(default_factory=lambda: secrets.token_hex(2))

    def caller(self, *, proposer: str, found: str = "") -> Caller:
        """Everything trusted about the next turn, none of it said by a model. `found`: the text of chosen passages."""
        return Caller(
            agent(question=self.question, found=found),
            run=self.task,
            task=self.task,
            turn=self.turn,
            origin=Origin(door="demo", agent="research", model=proposer),
        )

    def call(self, name: str, arguments: str, *, position: int = 0) -> ToolCall:
        """A proposal with a label that is new in this task."""
        return ToolCall(f"{self.start}-{self.turn}.{position}", name, arguments)

    async def propose(self, calls: Sequence[ToolCall], *, proposer: str) -> tuple[Observation, ...]:
        """Put one turn's calls to the gate, one after another, since each is attested for what it chose itself."""
        seen: list[Observation] = []
        callers = [self.caller(proposer=proposer, found=self._chosen_by(call)) for call in calls]
        for position, call in enumerate(calls):
            self.screen.say("PROPOSED", f"{call.name} {_text(call.arguments)}", why=f"by {proposer}")
            seen.append(await self.gate.propose(call, callers[position].at(position)))
            self.take(seen[-1])
        self.turn += 1
        return tuple(seen)

    def take(self, seen: Observation, *, why: str = "") -> None:
        """Show what came of a call, and keep what a search found."""
        show(self.screen, seen, why=why)
        if seen.tool == SEARCH_NAME and seen.status is Status.OK:
            self.passages = _passages(seen.data)
            self.screen.durable = SEARCHED

    def _chosen_by(self, call: ToolCall) -> str:
        """The text of the passages that a proposal names by number, and of no others.

        Empty where there is no such passage: the gate then refuses for want of it, before a person is asked.
        """
        if call.name != SAVE_NAME:
            return ""
        try:
            return quoted(self.passages, numbers=_numbers(call)) or NONE_CHOSEN
        except NoSuchPassage:
            return ""

    async def latest_approval(self) -> Approval | None:
        """The question that this task put to people last, whichever start of the program put it."""
        approvals = [each for each in await self.gate.approvals.list(by=BOB) if each.task == self.task]
        return approvals[-1] if approvals else None


def show(screen: Screen, seen: Observation, *, why: str = "") -> None:
    """An observation in a line or two."""
    problem = "" if seen.error is None else f"{seen.error.code.value}: {seen.error.message}"
    match seen.status:
        case Status.OK if seen.replayed:
            screen.say("REPLAYED", f"{seen.tool}: the recorded result; nothing ran", why=why)
        case Status.OK:
            screen.say("EXECUTED", f"{seen.tool}: {_result(seen)}", why=why)
        case Status.WAITING:
            screen.say("WAITING", f"{seen.tool}: {seen.user_text}", why=why)
        case _:
            screen.say(seen.status.value.upper(), f"{seen.tool}: {problem}", why=why)


def text_for_model(seen: Observation) -> str:
    """What a model is told about a call that did not succeed."""
    if seen.error is None:
        return seen.status.value
    return f"{seen.error.code.value}: {seen.error.message} {seen.hint}".strip()


def _result(seen: Observation) -> str:
    sources = seen.evidence.sources if seen.evidence is not None else ()
    if seen.tool != SEARCH_NAME:
        return seen.user_text
    places = "".join(f"\n{n}  {s.uri}:{s.line_first}-{s.line_last}" for n, s in enumerate(sources, start=1))
    quotable = seen.evidence is not None and seen.evidence.quotable
    return f"{len(sources)} passages, which {'may' if quotable else 'must not'} be quoted{places}"


def _passages(data: Json) -> tuple[Passage, ...]:
    """What the gate released of a search: cleaned and redacted, so a secret in a document is not quoted either."""
    found = data if isinstance(data, list) else []
    return tuple(Passage(**each) for each in found if isinstance(each, dict))  # type: ignore[arg-type]


def _numbers(call: ToolCall) -> tuple[int, ...]:
    """The passages that a proposal names, read as the gate reads it. What its schema will refuse names none."""
    arguments = parse_arguments(call.arguments)
    named = None if isinstance(arguments, Unparsed) else integral(arguments.get("passages"))
    return tuple(each for each in named if isinstance(each, int)) if isinstance(named, list) else ()


def _text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else repr(arguments)
