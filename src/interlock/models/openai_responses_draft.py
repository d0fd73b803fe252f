"""Collects what a Responses server says, whole or event by event, until the turn can be judged.

What servers are known to do, and what follows:

- an item belongs to its `output_index`, and to its id where there is none: some proxies give an item another id in
  every event, some servers send no index, some the same one for every item;
- `output_item.done` decides over the pieces that came before it, and the output of the last event over both, unless
  it is empty or shorter than what was closed: some servers leave it out;
- an item that nothing closed is not whole, whatever its arguments look like;
- a `status` inside a call says nothing about the turn (calls of programs stay `in_progress`), but `incomplete` is cut.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from interlock.models.openai_responses_items import Item, calls_of, provider_calls_of, words_of
from interlock.models.strict import count, error_of, error_sentence, mapping, mappings, raw_text, text
from interlock.models.turn import REASON_CHARACTERS_MAX, Ended, Proposed, Turn, Usage

CALLS_MAX: Final = 128
PIECES: Final[Mapping[str, str]] = {
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
}
WHOLES: Final[Mapping[str, str]] = {
    "response.function_call_arguments.done": "arguments",
    "response.mcp_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
ENDS: Final[Mapping[str, str]] = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
STATUSES_PENDING: Final = frozenset({"queued", "in_progress"})


@dataclass(slots=True)
class ResponseDraft:
    """A response that is still being read. `ended`: its own last event came; `broken`: what came cannot be read."""

    items: list[Item] = field(default_factory=list)
    ended: bool = False
    broken: bool = False
    status: str | None = None
    incomplete: str = ""
    error: str = ""
    error_told: str = ""
    response_id: str = ""
    usage: Usage = field(default_factory=Usage)

    def take_body(self, body: Mapping[str, object]) -> None:
        """Read a whole response body."""
        self._take_response(body)
        self._take_end(body, status=_status(body))
        self.items = [Item(value) for value in mappings(body.get("output"))]
        if not isinstance(body.get("output"), list) and not self.error and self.status not in STATUSES_PENDING:
            self.error = "The response holds no output."

    def take_event(self, event: Mapping[str, object], *, name: str) -> None:
        """Read one event of a stream. `name` is what the stream calls it, for events that do not say it themselves."""
        kind = text(event.get("type")) or name
        if kind in PIECES:
            self._take_piece(event, PIECES[kind])
        elif kind == "response.output_item.added":
            self._take_added(event)
        elif kind == "response.output_item.done":
            self._take_done(event)
        elif kind in WHOLES:
            self._take_whole(event, WHOLES[kind])
        elif kind in ENDS:
            self._take_last(event, status=ENDS[kind])
        elif kind == "error" or event.get("error"):
            self.take_error(event)
        else:
            self._take_response(mapping(event.get("response")))

    def take_error(self, told: Mapping[str, object]) -> None:
        """Keep what the provider says went wrong; the last word counts, since `response.failed` says it again."""
        self.error, self.error_told = error_sentence(told), error_of(told)

    def take_done(self) -> None:
        """The stream says that this was all, which only the response's own last event can say."""

    def fail(self, reason: str) -> None:
        """What comes cannot be read."""
        self.broken, self.error = True, reason

    def cut_off(self) -> None:
        """The stream ended inside an event, and so before the last one."""

    @property
    def over(self) -> bool:
        """Nothing that comes from here on changes the turn. An error event does not end it: the failure follows."""
        return self.ended or self.broken

    def finish(self, *, raw: bytes) -> Turn:
        """Judge the turn."""
        calls = calls_of(self.items)
        ended, reason = self._judge(calls)
        return Turn(
            text=words_of(self.items, "text"),
            calls=calls,
            ended=ended,
            stop=self.status,
            reason=reason[:REASON_CHARACTERS_MAX],
            usage=self.usage,
            echo=json.dumps({"output": [item.value for item in self.items]}),
            raw=raw,
            provider_calls=provider_calls_of(self.items),
            items=tuple(item.label for item in self.items),
            error=self.error_told,
            response_id=self.response_id,
        )

    def _judge(self, calls: tuple[Proposed, ...]) -> tuple[Ended, str]:
        refusal = words_of(self.items, "refusal")
        if self.error:
            return Ended.ERROR, self.error
        if len(calls) > CALLS_MAX:
            return Ended.ERROR, f"The turn holds more than {CALLS_MAX} calls."
        if not self.ended:
            return Ended.DROPPED, "The connection ended before the turn did."
        if self.status in STATUSES_PENDING:
            return Ended.IN_PROGRESS, "The provider is still at work on the turn."
        if self.status == "incomplete" or self.incomplete:
            return self._judge_incomplete()
        if self.status not in {None, "completed"}:
            return Ended.ERROR, f"The turn ended in another way than by being completed: {self.status}"
        if refusal:
            return Ended.REFUSED, refusal
        return (Ended.CALLS_ALLOWED if calls else Ended.ANSWER), ""

    def _judge_incomplete(self) -> tuple[Ended, str]:
        if self.incomplete == "content_filter":
            return Ended.REFUSED, "The provider withheld the turn: content_filter"
        return Ended.TRUNCATED, f"The turn was cut: {self.incomplete or 'no reason given'}"

    def _take_response(self, response: Mapping[str, object]) -> None:
        self.response_id = text(response.get("id")) or self.response_id
        usage = mapping(response.get("usage"))
        if usage:
            self.usage = Usage(count(usage.get("input_tokens")), count(usage.get("output_tokens")))
        if response.get("error"):
            self.take_error(response)

    def _take_end(self, response: Mapping[str, object], *, status: str | None) -> None:
        self.ended, self.status = True, status
        details = mapping(response.get("incomplete_details"))
        self.incomplete = text(details.get("reason"))

    def _take_last(self, event: Mapping[str, object], *, status: str) -> None:
        response = mapping(event.get("response"))
        self._take_response(response)
        told = _status(response) if status == "completed" else None
        self._take_end(response, status=told or status)
        output = mappings(response.get("output"))
        if output and len(output) >= sum(item.closed for item in self.items):
            closed = [item.value for item in self.items if item.closed]
            sealed = {text(value.get("id")): value.get("encrypted_content") for value in closed}
            self.items = [Item(_with_seal(value, sealed)) for value in output]

    def _take_added(self, event: Mapping[str, object]) -> None:
        value = mapping(event.get("item"))
        self.items.append(Item(value, closed=False, place=_place(event)))

    def _take_done(self, event: Mapping[str, object]) -> None:
        value = mapping(event.get("item"))
        place = _place(event)
        item = self._find(place, value.get("id"), value.get("call_id"))
        if item is None or (item.closed and not _share_label(item.value, value)):
            self.items.append(Item(value, place=place))
        else:
            item.value, item.closed = value, True

    def _take_piece(self, event: Mapping[str, object], name: str) -> None:
        item = self._find(_place(event), event.get("item_id"))
        if item is not None:
            item.pieces.setdefault(name, []).append(text(event.get("delta")))

    def _take_whole(self, event: Mapping[str, object], name: str) -> None:
        item = self._find(_place(event), event.get("item_id"))
        if item is not None and event.get(name) is not None:
            item.pieces[name] = [raw_text(event.get(name))]

    def _find(self, place: str, item_id: object, call_id: object = None) -> Item | None:
        """The latest item at the place that may be the one meant; of several, the one with the same id."""
        found = None
        for item in reversed(self.items):
            if (place and item.place != place) or _differ(call_id, item.value.get("call_id")):
                continue
            if item_id is not None and item.value.get("id") == item_id:
                return item
            if found is None and (place or item_id is None):
                found = item
        return found


def _status(response: Mapping[str, object]) -> str | None:
    """The status as text; one that is none is nothing that allows calls."""
    status = response.get("status")
    return None if status is None else raw_text(status)


def _place(event: Mapping[str, object]) -> str:
    """Where in the output the event belongs; nothing where it does not say so."""
    index = event.get("output_index")
    return "" if index is None or isinstance(index, bool) else str(index)


def _share_label(before: Mapping[str, object], now: Mapping[str, object]) -> bool:
    """One item told twice, as after a reconnection; two items at one place have labels of their own."""
    return any(now.get(name) and now.get(name) == before.get(name) for name in ("id", "call_id"))


def _differ(before: object, now: object) -> bool:
    return bool(before) and bool(now) and before != now


def _with_seal(value: Mapping[str, object], sealed: Mapping[str, object]) -> Mapping[str, object]:
    """The item, with the encrypted reasoning of the event that closed it: the last event may hold another, or none."""
    seal = sealed.get(text(value.get("id")))
    return {**value, "encrypted_content": seal} if seal else value
