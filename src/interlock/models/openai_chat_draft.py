"""Collects what a Chat Completions response says, whole or piece by piece, until the turn can be judged.

Pieces are added as they come; nothing is mended on the way. What compatible servers are known to do, and what follows:

- pieces of one call share an `index`, but some servers give every call index 0, or no index at all: a piece with
  another id or another name begins a new call, an empty or repeated id or name does not. Where that cannot be told
  (no ids, one index, one name) the arguments run together, which is no JSON and therefore refused later;
- arguments that are missing, null or an object instead of text are written down as the JSON text they stand for;
- calls without a name and without arguments are stubs, not calls.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from interlock.models.strict import count, error_of, error_sentence, free_id, mapping, mappings, raw_text, text
from interlock.models.turn import REASON_CHARACTERS_MAX, CallKind, Ended, Proposed, Turn, Usage

CALLS_MAX: Final = 128
STOPS_CALLING: Final = frozenset({"tool_calls", "function_call"})
STOPS_ALLOWED: Final = frozenset({"", "stop"}) | STOPS_CALLING
STOPS_TRUNCATED: Final = frozenset({"length", "max_tokens", "model_length"})
STOPS_REFUSED: Final = frozenset({"content_filter"})
ENDS_CUT: Final = frozenset({Ended.DROPPED, Ended.TRUNCATED, Ended.ERROR})
MESSAGE_FIELDS_TO_ECHO: Final = ("reasoning_content", "reasoning", "reasoning_details", "extra_content")
CALL_FIELDS_TO_ECHO: Final = ("extra_content",)


@dataclass(slots=True)
class _OpenCall:
    index: object
    wire_id: str
    name: str
    kind: CallKind
    arguments: list[str]
    echo: dict[str, object] = field(default_factory=dict)

    def is_stub(self) -> bool:
        return not self.name and not any(self.arguments)

    def goes_on_in(self, piece: _OpenCall) -> bool:
        return not (_differ(self.wire_id, piece.wire_id) or _differ(self.name, piece.name))

    def add(self, piece: _OpenCall) -> None:
        self.wire_id = self.wire_id or piece.wire_id
        self.name = self.name or piece.name
        self.arguments += piece.arguments
        self.echo |= piece.echo


@dataclass(slots=True)
class TurnDraft:
    """A turn that is still being read. `error` is what makes it unusable, `cut` an event that was not whole.

    `closed`: the response came to its own end, instead of just stopping.
    """

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: list[_OpenCall] = field(default_factory=list)
    legacy: _OpenCall | None = None
    cut: bool = False
    closed: bool = False
    choice: object = None
    response_id: str = ""
    stop: str | None = None
    error: str = ""
    error_told: str = ""
    usage: Usage = field(default_factory=Usage)
    echo: dict[str, list[object]] = field(default_factory=dict)

    def take_body(self, body: Mapping[str, object]) -> None:
        """Read a whole response body."""
        choice = self._open(body)
        message = mapping(choice.get("message"))
        self._take_message(message)
        self.calls += [_read_call(entry) for entry in mappings(message.get("tool_calls"))]
        self.closed = True
        if not choice and not self.error:
            self.error = "The response holds no choice."

    def take_event(self, event: Mapping[str, object], *, name: str) -> None:
        """Read one event of a stream. Some servers name one `error` that looks like any other."""
        if name == "error":
            self.take_error(event)
        delta = mapping(self._open(event).get("delta"))
        self._take_message(delta)
        for entry in mappings(delta.get("tool_calls")):
            self._take_piece(_read_call(entry))

    def take_done(self) -> None:
        """The stream says that this was all."""
        self.closed = True

    def fail(self, reason: str) -> None:
        """What comes cannot be read."""
        self.error = reason

    def cut_off(self) -> None:
        """The stream ended inside an event."""
        self.cut = True

    @property
    def over(self) -> bool:
        """Nothing that comes from here on changes the turn."""
        return self.closed or bool(self.error)

    def finish(self, *, raw: bytes) -> Turn:
        """Judge the turn."""
        calls = [call for call in self.calls if not call.is_stub()]
        if not calls and self.legacy is not None and not self.legacy.is_stub():
            calls = [self.legacy]
        ended, reason = self._judge(calls)
        return Turn(
            text="".join(self.text),
            calls=_number(calls, cut=ended in ENDS_CUT),
            ended=ended,
            stop=self.stop,
            reason=reason[:REASON_CHARACTERS_MAX],
            usage=self.usage,
            echo=json.dumps({name: _joined(pieces) for name, pieces in self.echo.items()}),
            raw=raw,
            error=self.error_told,
            response_id=self.response_id,
        )

    def take_error(self, body: Mapping[str, object]) -> None:
        """Keep what the provider says went wrong; the first word counts."""
        self.error = self.error or error_sentence(body)
        self.error_told = self.error_told or error_of(body)

    def _judge(self, calls: list[_OpenCall]) -> tuple[Ended, str]:
        refusal = "".join(self.refusal)
        if self.error:
            return Ended.ERROR, self.error
        if len(calls) > CALLS_MAX:
            return Ended.ERROR, f"The turn holds more than {CALLS_MAX} calls."
        if self.stop in STOPS_TRUNCATED:
            return Ended.TRUNCATED, "The turn was cut at the token limit."
        if refusal or self.stop in STOPS_REFUSED:
            return Ended.REFUSED, refusal or "The provider withheld the turn."
        if self.cut or (not self.closed and not self.stop):
            return Ended.DROPPED, "The connection ended before the turn did."
        if self.stop is not None and self.stop not in STOPS_ALLOWED:
            return Ended.ERROR, f"The turn ended in an unknown way: {self.stop}"
        if not calls and self.stop in STOPS_CALLING:
            return Ended.MODEL_ERROR, "The turn ended in tool calls and holds none."
        return (Ended.CALLS_ALLOWED if calls else Ended.ANSWER), ""

    def _open(self, body: Mapping[str, object]) -> Mapping[str, object]:
        """What stands around the message: error, usage, stop. Returns the one choice, or an empty mapping."""
        if body.get("error"):
            self.take_error(body)
        self.response_id = self.response_id or text(body.get("id"))
        self.usage = _read_usage(body.get("usage")) or self.usage
        choices = mappings(body.get("choices"))
        if not choices:
            return {}
        if choices[0].get("error"):
            self.take_error(choices[0])
        self._hold_choice(choices)
        self._take_stop(choices[0].get("finish_reason"))
        return choices[0]

    def _hold_choice(self, choices: list[Mapping[str, object]]) -> None:
        index = choices[0].get("index", 0)
        if self.choice is None:
            self.choice = index
        if len(choices) > 1 or self.choice != index:
            self.error = self.error or "The response holds more than one choice; one was asked for."

    def _take_stop(self, stop: object) -> None:
        """A stop that forbids calls is kept, whatever a later event says."""
        if stop is not None and (self.stop is None or self.stop in STOPS_ALLOWED):
            self.stop = raw_text(stop) or self.stop or ""

    def _take_message(self, message: Mapping[str, object]) -> None:
        content = message.get("content")
        if content:
            self.text.append(_content_text(content))
        if message.get("refusal"):
            self.refusal.append(text(message.get("refusal")))
        for name in MESSAGE_FIELDS_TO_ECHO:
            if name in message:
                self._keep(name, message[name])
        if isinstance(content, list):
            self._keep("content", content)
        if isinstance(message.get("function_call"), dict):
            self._take_legacy(mapping(message.get("function_call")))

    def _keep(self, name: str, value: object) -> None:
        if value is not None:
            self.echo.setdefault(name, []).append(value)

    def _take_legacy(self, stub: Mapping[str, object]) -> None:
        piece = _OpenCall(None, "", text(stub.get("name")), CallKind.LEGACY_FUNCTION, [raw_text(stub.get("arguments"))])
        if self.legacy is None:
            self.legacy = piece
        else:
            self.legacy.add(piece)

    def _take_piece(self, piece: _OpenCall) -> None:
        open_call = self._same_place(piece)
        if open_call is not None and open_call.goes_on_in(piece):
            open_call.add(piece)
        elif len(self.calls) <= CALLS_MAX:
            self.calls.append(piece)

    def _same_place(self, piece: _OpenCall) -> _OpenCall | None:
        """The latest call with the piece's index; without an index the one with its id; without either the last."""
        for call in reversed(self.calls):
            if piece.index is not None and piece.index == call.index:
                return call
            if piece.index is None and piece.wire_id in {"", call.wire_id}:
                return call
        return None


def _read_call(entry: Mapping[str, object]) -> _OpenCall:
    function, custom = mapping(entry.get("function")), mapping(entry.get("custom"))
    spelled_custom = bool(custom.get("name") or custom.get("input")) and not function.get("name")
    return _OpenCall(
        index=entry.get("index"),
        wire_id=text(entry.get("id")),
        name=text(custom.get("name") if spelled_custom else function.get("name")),
        kind=CallKind.CUSTOM if spelled_custom else CallKind.FUNCTION,
        arguments=[raw_text(custom.get("input") if spelled_custom else function.get("arguments"))],
        echo={name: entry[name] for name in CALL_FIELDS_TO_ECHO if entry.get(name) is not None},
    )


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) for part in mappings(content))


def _differ(before: str, now: str) -> bool:
    return bool(before) and bool(now) and before != now


def _joined(pieces: list[object]) -> object:
    """One value of the pieces that a stream sent: text is joined, lists are strung together, else the last counts."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(map(text, pieces))
    if all(isinstance(piece, list) for piece in pieces):
        return [entry for piece in pieces if isinstance(piece, list) for entry in piece]
    return pieces[-1]


def _read_usage(value: object) -> Usage | None:
    usage = mapping(value)
    if not usage:
        return None
    return Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")))


def _number(calls: list[_OpenCall], *, cut: bool) -> tuple[Proposed, ...]:
    taken = {call.wire_id for call in calls}
    answered: set[str] = set()
    numbered = []
    for position, call in enumerate(calls):
        reply_id = call.wire_id if call.wire_id and call.wire_id not in answered else free_id(position, taken)
        taken.add(reply_id)
        answered.add(reply_id)
        numbered.append(
            Proposed(
                position=position,
                wire_id=call.wire_id or None,
                reply_id=reply_id,
                name=call.name,
                arguments_raw="".join(call.arguments),
                kind=call.kind,
                echo=json.dumps(call.echo),
                closed=any(call.arguments) or not cut or call is not calls[-1],
            )
        )
    return tuple(numbered)
