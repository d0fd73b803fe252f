"""The agent's loop: the model proposes, the gate answers, and the answer goes back, for at most a few turns a step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Final

from chat_model import ChatModel
from hurdles import PASSAGES_MIN
from model_server import ModelUnavailable
from on_record import Searched, latest_search
from prompts import SEARCH_NAME, draft_id_for, results_text, save_sentence, search_sentence
from session import PROGRAM, SEARCHED, Session, text_for_model

from interlock import Code, Observation, Status
from interlock.models.names import WireNames, spell
from interlock.models.openai_chat import Ended, Proposed, Turn, assistant_echo, declarations, tool_message

TURNS_MAX: Final = 4
"""How many turns a model gets for one step. A model that needs more is not helped along: the step has failed."""

Message = Mapping[str, object]


class Gave(Exception):
    """The model did not get a step done in its turns. The message is for the user."""


class Conversation:
    """What was said between the program, the model and the gate in one start."""

    def __init__(self, session: Session, model: ChatModel) -> None:
        self._session = session
        self._model = model
        self._messages: list[Message] = []
        self._names, self._tools = _offered(session)

    async def research(self, earlier: Searched | None = None) -> Observation:
        """Search, then propose a draft: the observation of the proposed save. Raises Gave or ModelUnavailable.

        `earlier` is the search of an earlier start, if there is one: no model is asked for that again.
        """
        session = self._session
        searching, saving = search_sentence(session.question), save_sentence(draft_id_for(session.question))
        if earlier is None or not await self._goes_on(searching, earlier):
            await self._step(
                searching, what="find the two passages that a draft needs", reached=lambda _: self._found()
            )
        return await self._step(saving, what="propose a draft that can be saved", reached=_is_put)

    async def _goes_on(self, sentence: str, earlier: Searched) -> bool:
        """Make the search that is on record once more, word for word. Whether it still finds enough to go on from."""
        session, name = self._session, self._names.to_wire.get(SEARCH_NAME, SEARCH_NAME)
        why = "Its words are on record, so no model is asked for them. A search changes nothing."
        session.screen.say("CONTINUES", "an earlier start has searched; the same search is made once more", why=why)
        session.screen.durable = SEARCHED
        call = Proposed(position=0, wire_id=None, reply_id="recorded", name=name, arguments_raw=earlier.arguments)
        self._messages.append({"role": "user", "content": sentence})
        await self._put(Turn(text="", calls=(call,), ended=Ended.CALLS_ALLOWED), proposer=PROGRAM)
        now = await latest_search(session.gate, task=session.task)
        same = now is not None and now.result == earlier.result
        session.screen.below(
            "the same result as on record" if same else "the documents have changed: this result counts"
        )
        if not self._found():
            self._messages.clear()
        return self._found()

    def _found(self) -> bool:
        return len(self._session.passages) >= PASSAGES_MIN

    async def _step(self, sentence: str, *, what: str, reached: Callable[[Observation], bool]) -> Observation:
        """Ask until a proposal reaches what the step is for. Whatever the gate refuses is fed back, never mended."""
        for number in range(1, TURNS_MAX + 1):
            self._messages.append({"role": "user", "content": sentence})
            turn = await asyncio.to_thread(self._model.ask, self._messages, tools=self._tools)
            self._session.model_tokens += (turn.usage.input_tokens or 0) + (turn.usage.output_tokens or 0)
            if not turn.runnable:
                self._nothing_ran(turn, number)
                continue
            seen = await self._put(turn, proposer=self._model.options.model)
            found = next((each for each in seen if reached(each)), None)
            if found is not None:
                return found
        raise Gave(f"The model did not {what} in {TURNS_MAX} turns. Nothing was done in its place.")

    async def _put(self, turn: Turn, *, proposer: str) -> tuple[Observation, ...]:
        """One turn's calls to the gate, and what came of them into the conversation."""
        session = self._session
        calls = [
            session.call(self._names.original(each.name) or each.name, each.arguments_raw, position=each.position)
            for each in turn.runnable
        ]
        seen = await session.propose(calls, proposer=proposer)
        answers = [tool_message(call, self._told(each)) for call, each in zip(turn.runnable, seen, strict=True)]
        self._messages += [assistant_echo(turn), *answers]
        return seen

    def _told(self, seen: Observation) -> str:
        passages = self._session.passages
        if seen.tool == SEARCH_NAME and seen.status is Status.OK:
            return results_text(passages)
        is_lacking = seen.error is not None and seen.error.code is Code.CONTEXT_MISSING
        return text_for_model(seen) + (f" There are passages 1 to {len(passages)}." if is_lacking else "")

    def _nothing_ran(self, turn: Turn, number: int) -> None:
        """A turn that ended in no call, or was cut off, runs nothing."""
        if turn.ended in {Ended.ERROR, Ended.HTTP_ERROR}:
            raise ModelUnavailable(f"The model's server refused the request ({turn.reason}).")
        if turn.ended is Ended.DROPPED:
            raise ModelUnavailable("The model's server cannot be reached, broke off its answer or took too long.")
        why = f"turn {number} of {TURNS_MAX} ended: {turn.ended.value}. {turn.reason}".strip()
        self._session.screen.say("NO CALL", "the model proposed nothing that may run", why=why)


def _is_put(seen: Observation) -> bool:
    return seen.tool != SEARCH_NAME and seen.status in (Status.WAITING, Status.OK)


def _offered(session: Session) -> tuple[WireNames, list[dict[str, object]]]:
    """The tools that policy lets this caller see, without injected parameters; reads first."""
    tools = session.gate.catalogue.visible(session.caller(proposer=""))
    ordered = sorted(tools, key=lambda each: each.spec.effect.is_effect)
    names = spell(each.spec.name for each in ordered)
    specs = [(each.spec.name, each.spec.description, json.loads(each.model_schema)) for each in ordered]
    return names, declarations(specs, names=names)
