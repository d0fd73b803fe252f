"""What a model is sent of a run: its task, what it said, what came of its calls, and what people said to it.

An agent that was handed the task begins with the task and the words it was handed over with: what another model said
is not put into its mouth, and signatures of one model mean nothing to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from interlock.core.fence import fence
from interlock.core.observation import Status
from interlock.core.render import for_model
from interlock.loop.entries import Begun, HandedOff, Observed, Said
from interlock.loop.view import History, Round, RunView
from interlock.models.codec import Answer, Codec
from interlock.models.conversation import Conversation
from interlock.models.openai_responses import APPROVED
from interlock.models.turn import CallKind, Ended, Proposed

Message = dict[str, object]

NOT_RUN = "It was not run: {why}"
EDITED = "A person changed the arguments of this call; what follows is of the changed call."
UNUSABLE = "Your last answer could not be used: {why} Answer again."
_PAUSED, _MCP_APPROVAL = Ended.PAUSED, CallKind.MCP_APPROVAL  # looking them up in their classes costs as much as a call
WENT_WRONG = frozenset({Status.FAILED, Status.REFUSED, Status.UNKNOWN, Status.COMPENSATION_FAILED})


class Transcript:
    """The messages of one agent's conversation, made once each. Belongs to who drives the run."""

    def __init__(self, view: RunView, codec: Codec) -> None:
        self._view = view
        self._codec = codec
        self._sent = 0
        self._kept = Conversation()

    def messages(self, *, note: str = "") -> list[Message]:
        """All that is sent by now; `note` is said at the end, this time only."""
        view = self._view
        if self._sent == 0 or view.conversation_at > self._sent:
            self._sent = view.conversation_at
            self._kept = Conversation(_opening(view))
        history, kept = view.history, self._kept
        for item in history[self._sent :]:
            kept += _messages(item, self._codec)
        self._sent = len(history)
        return [*kept, _said(note)] if note else kept


def _opening(view: RunView) -> list[Message]:
    system = view.agent.instructions
    handed = next((each for each in reversed(view.history) if isinstance(each, HandedOff)), None)
    task = view.begun.task
    if handed is not None:
        words = fence(handed.message, nonce=_nonce(view), origin="the agent before you", trust="untrusted")
        task = f"{task}\n\nThis was handed to you with these words:\n{words}"
    said: list[Message] = [{"role": "system", "content": system}] if system else []
    return [*said, _said(task), *(_said(each.text) for each in _unheard(view))]


def _nonce(view: RunView) -> str:
    """What came with the results of the turn that handed the task over: not known to who wrote the words."""
    before = view.history[: view.conversation_at]
    handing = next(each for each in reversed(before) if isinstance(each, Round))
    return next(each.nonce for each in handing.observed.values())


def _unheard(view: RunView) -> list[Said]:
    """What people said while the task was handed over: the agent that handed it over is asked no more."""
    found: list[Said] = []
    rounds = 0
    for item in reversed(view.history[: view.conversation_at - 1]):
        rounds += isinstance(item, Round)
        if rounds > 1 or isinstance(item, HandedOff | Begun):
            break
        if isinstance(item, Said):
            found.append(item)
    return found[::-1]


def _messages(item: History, codec: Codec) -> Sequence[Message]:
    match item:
        case Begun() | HandedOff():
            return ()
        case Said():
            return [_said(item.text)]
        case Round():
            return _round(item, codec)
        case _:
            assert_never(item)


def _round(item: Round, codec: Codec) -> list[Message]:
    if item.turn.ended is _PAUSED:
        return codec.echo(item.turn)
    if not item.calls:
        return [_said(UNUSABLE.format(why=item.responded.why))] if item.responded.why else codec.echo(item.turn)
    return [*codec.echo(item.turn), *codec.results([_answer(call, item) for call in item.turn.calls])]


def _answer(call: Proposed, item: Round) -> Answer:
    observed = item.observed.get(call.position)
    if observed is None:
        return Answer(call, NOT_RUN.format(why="it was not whole."), failed=True)
    if call.kind is _MCP_APPROVAL and observed.seen.status is Status.OK:
        return Answer(call, APPROVED)
    return Answer(call, told(observed), failed=observed.seen.status in WENT_WRONG)


def told(observed: Observed) -> str:
    """What a model is told of a call: our words, and the result fenced as data."""
    text = for_model(observed.seen, nonce=observed.nonce)
    return f"{EDITED}\n{text}" if observed.edited else text


def _said(text: str) -> Message:
    return {"role": "user", "content": text}
