"""Collects what a Gemini response says, whole or chunk by chunk, until the turn can be judged.

Source: the Gemini API and Vertex AI references of `GenerateContentResponse`, and traffic of both. What they are known
to do, and what follows:

- STOP ends turns with calls too, and older versions say it in every chunk: what was called is told by the parts;
- ids of calls are missing on older versions, and a signature stands on the first of several parallel calls only;
- a call whose arguments are streamed stays open until a part says that it does not go on. There is one at a time;
- provider-run tools stand between calls, in either order, or show in metadata beside the parts alone;
- enums come as numbers where a client asked for them so. Numbers 9 and above are those of Vertex AI.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from interlock.models.gemini_arguments import PartialArguments
from interlock.models.gemini_metadata import (
    error_sentence,
    feedback_words,
    mapping,
    mappings,
    read_usage,
    text,
    work_in,
)
from interlock.models.turn import REASON_CHARACTERS_MAX, Ended, Proposed, ProviderCall, Turn

CALLS_MAX: Final = 128
STOP: Final = "STOP"
UNSAID: Final = frozenset({"", "0", "FINISH_REASON_UNSPECIFIED"})
ENDS: Final[Mapping[str, Ended]] = {
    "MAX_TOKENS": Ended.TRUNCATED,
    "SAFETY": Ended.REFUSED,
    "RECITATION": Ended.REFUSED,
    "LANGUAGE": Ended.REFUSED,
    "BLOCKLIST": Ended.REFUSED,
    "PROHIBITED_CONTENT": Ended.REFUSED,
    "SPII": Ended.REFUSED,
    "MODEL_ARMOR": Ended.REFUSED,
    "IMAGE_SAFETY": Ended.REFUSED,
    "IMAGE_PROHIBITED_CONTENT": Ended.REFUSED,
    "IMAGE_RECITATION": Ended.REFUSED,
    "MALFORMED_FUNCTION_CALL": Ended.MODEL_ERROR,
    "MALFORMED_RESPONSE": Ended.MODEL_ERROR,
    "UNEXPECTED_TOOL_CALL": Ended.MODEL_ERROR,
    "TOO_MANY_TOOL_CALLS": Ended.MODEL_ERROR,
    "MISSING_THOUGHT_SIGNATURE": Ended.MODEL_ERROR,
    "CONTINUATION": Ended.PAUSED,
}
_NAMES: Final = (
    "FINISH_REASON_UNSPECIFIED STOP MAX_TOKENS SAFETY RECITATION OTHER BLOCKLIST PROHIBITED_CONTENT SPII "
    "MALFORMED_FUNCTION_CALL MODEL_ARMOR"
).split()
NUMBERED: Final = {str(number): name for number, name in enumerate(_NAMES)}
WORDS: Final = {
    Ended.TRUNCATED: "The turn was cut at the token limit.",
    Ended.REFUSED: "The provider withheld the turn.",
    Ended.MODEL_ERROR: "The model spoilt the turn.",
    Ended.PAUSED: "The turn goes on when it is sent back.",
}
PART_KINDS: Final = (
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "functionResponse",
    "inlineData",
    "fileData",
)


@dataclass(slots=True)
class _Call:
    """One call and the part that it goes back in. `partial` is there where its arguments are streamed."""

    part: dict[str, object]
    wire_id: str
    name: str
    raw: str
    going_on: bool
    partial: PartialArguments | None = None

    @property
    def closed(self) -> bool:
        return not self.going_on and (self.partial is None or self.partial.whole)

    def spell(self) -> None:
        """Write the arguments into the part, `{}` for what is no object: a history with anything else is refused."""
        if self.partial is not None:
            self.raw = self.partial.raw()
        sent = {name: value for name, value in mapping(self.part["functionCall"]).items() if name not in _STREAMED}
        sendable = _sendable(self.raw)
        if self.partial is not None or not sendable:
            sent["args"] = json.loads(self.raw) if sendable else {}
        self.part["functionCall"] = sent


_STREAMED: Final = frozenset({"partialArgs", "willContinue"})


@dataclass(slots=True)
class TurnDraft:
    """A turn that is still being read. `error` is what makes it unusable, `cut` that it just stopped."""

    error: str = ""
    cut: bool = False
    _text: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _parts: list[Mapping[str, object]] = field(default_factory=list)
    _items: list[str] = field(default_factory=list)
    _work: list[ProviderCall] = field(default_factory=list)
    _beside: dict[str, Mapping[str, object]] = field(default_factory=dict)
    _blocked: str = ""
    _candidate: object = None
    _stop: str | None = None
    _message: str = ""
    _usage: object = None
    _sent_error: str = ""
    _response_id: str = ""

    def take(self, chunk: Mapping[str, object]) -> None:
        """Read one chunk of a stream, or a whole body, which is one chunk."""
        if chunk.get("error"):
            self.take_error(chunk)
        self._usage = chunk.get("usageMetadata") or self._usage
        self._response_id = text(chunk.get("responseId")) or self._response_id
        self._blocked = self._blocked or feedback_words(chunk.get("promptFeedback"))
        candidate = self._one_of(mappings(chunk.get("candidates")))
        for part in mappings(mapping(candidate.get("content")).get("parts")):
            self._take_part(part)
        self._message = text(candidate.get("finishMessage")) or self._message
        self._take_stop(candidate.get("finishReason"))
        for name in ("groundingMetadata", "urlContextMetadata"):
            if candidate.get(name):
                self._beside[name] = mapping(candidate[name])

    def take_error(self, body: Mapping[str, object]) -> None:
        """The first error counts; whatever follows it is of no turn."""
        if not self.error:
            self.error, self._sent_error = error_sentence(body), json.dumps(body.get("error"))

    def finish(self, *, raw: bytes) -> Turn:
        """Judge the turn."""
        for call in self._calls:
            call.spell()
        ended, reason = self._judge()
        return Turn(
            text="".join(self._text),
            calls=_numbered(self._calls),
            ended=ended,
            stop=self._stop,
            reason=reason[:REASON_CHARACTERS_MAX],
            usage=read_usage(self._usage),
            echo=json.dumps({"parts": self._parts}),
            raw=raw,
            provider_calls=(*self._work, *work_in(self._beside, beside=self._work)),
            items=tuple(self._items),
            error=self._sent_error,
            response_id=self._response_id,
        )

    def _judge(self) -> tuple[Ended, str]:
        stop = _word(self._stop)
        if self.error:
            return Ended.ERROR, self.error
        if len(self._calls) > CALLS_MAX:
            return Ended.ERROR, f"The turn holds more than {CALLS_MAX} calls."
        if self._blocked:
            return Ended.REFUSED, self._blocked
        if stop in ENDS:
            return ENDS[stop], self._message or WORDS[ENDS[stop]]
        if self.cut or stop in UNSAID:
            return Ended.DROPPED, "The response stopped before the turn ended."
        if stop != STOP:
            return Ended.ERROR, self._message or f"The turn ended in an unknown way: {self._stop}"
        return (Ended.CALLS_ALLOWED if self._calls else Ended.ANSWER), ""

    def _one_of(self, candidates: list[Mapping[str, object]]) -> Mapping[str, object]:
        if not candidates:
            return {}
        index = candidates[0].get("index", 0)
        if self._candidate is None:
            self._candidate = index
        if len(candidates) > 1 or self._candidate != index:
            self.error = self.error or "The response holds more than one candidate; one was asked for."
        return candidates[0]

    def _take_stop(self, said: object) -> None:
        """A stop that forbids calls is kept, whatever a later chunk says."""
        if isinstance(said, str | int) and not isinstance(said, bool) and _word(self._stop) in {*UNSAID, STOP}:
            self._stop = str(said) or self._stop

    def _take_part(self, part: Mapping[str, object]) -> None:
        call = part.get("functionCall")
        if isinstance(call, dict):
            self._take_call(part, call=call)
            return
        self._parts.append(part)
        piece = part.get("text")
        if isinstance(piece, str):
            self._take_text(part, piece=piece)
            return
        for kind in PART_KINDS:
            if isinstance(part.get(kind), dict):
                self._items.append(kind)
                self._take_work(kind, mapping(part[kind]))

    def _take_text(self, part: Mapping[str, object], *, piece: str) -> None:
        kind = "thought" if part.get("thought") is True else "text"
        if not self._items or self._items[-1] != kind:
            self._items.append(kind)
        if kind == "text":
            self._text.append(piece)

    def _take_call(self, part: Mapping[str, object], *, call: Mapping[str, object]) -> None:
        before = self._calls[-1] if self._calls and self._calls[-1].going_on else None
        wire_id, name = text(call.get("id")), text(call.get("name"))
        if before is not None and not name and wire_id in {"", before.wire_id}:
            _go_on(before, part=part, call=call)
        elif call and len(self._calls) <= CALLS_MAX:
            opened = _Call(dict(part), wire_id, name, _spelled(call.get("args")), call.get("willContinue") is True)
            opened.partial = _partial(call)
            self._calls.append(opened)
            self._parts.append(opened.part)
            self._items.append("functionCall")

    def _take_work(self, kind: str, what: Mapping[str, object]) -> None:
        wire_id = text(what.get("id")) or None
        if kind == "executableCode":
            language = {"language": what.get("language")}
            code = json.dumps({"code": what.get("code")} | language)
            self._work.append(ProviderCall("code_execution", wire_id, kind, code, json.dumps(language)))
        elif kind == "toolCall":
            self._work.append(ProviderCall(_named(what), wire_id, kind, _spelled(what.get("args"))))
        elif kind == "codeExecutionResult" and self._work and self._work[-1].wire_id == wire_id:
            facts = json.loads(self._work[-1].facts) | {"outcome": what.get("outcome")}
            self._work[-1] = replace(self._work[-1], facts=json.dumps(facts))


def _go_on(before: _Call, *, part: Mapping[str, object], call: Mapping[str, object]) -> None:
    before.going_on = call.get("willContinue") is True
    if before.partial is not None:
        before.partial.add_whole(call.get("args"))
        before.partial.add(call.get("partialArgs"))
    if part.get("thoughtSignature"):
        before.part.setdefault("thoughtSignature", part["thoughtSignature"])


def _partial(call: Mapping[str, object]) -> PartialArguments | None:
    """The pieces of a call that is streamed; None for one that came whole."""
    if call.get("partialArgs") is None and call.get("willContinue") is not True:
        return None
    partial = PartialArguments()
    partial.add_whole(call.get("args"))
    partial.add(call.get("partialArgs"))
    return partial


def _named(what: Mapping[str, object]) -> str:
    kind = what.get("toolType", "")
    return kind if isinstance(kind, str) else str(kind)


def _word(stop: str | None) -> str:
    return NUMBERED.get(stop or "", stop or "")


def _spelled(arguments: object) -> str:
    return "" if arguments is None or arguments == "" else json.dumps(arguments)


def _sendable(raw: str) -> bool:
    """Whether a history may hold these arguments as they came: an object, without a number beyond a double's range."""
    if not raw or not raw.startswith("{"):
        return not raw
    return "Infinity" not in raw or _finite(raw)


def _finite(raw: str) -> bool:
    try:
        json.dumps(json.loads(raw), allow_nan=False)
    except ValueError:
        return False
    return True


def _numbered(calls: list[_Call]) -> tuple[Proposed, ...]:
    taken = {call.wire_id for call in calls}
    answered: set[str] = set()
    numbered = []
    for position, call in enumerate(calls):
        reply_id = call.wire_id if call.wire_id and call.wire_id not in answered else _free_id(position, taken)
        taken.add(reply_id)
        answered.add(reply_id)
        numbered.append(
            Proposed(
                position=position,
                wire_id=call.wire_id or None,
                reply_id=reply_id,
                name=call.name,
                arguments_raw=call.raw,
                closed=call.closed,
                signed=bool(call.part.get("thoughtSignature")),
            )
        )
    return tuple(numbered)


def _free_id(position: int, taken: set[str]) -> str:
    reply_id = f"call_{position}"
    while reply_id in taken:
        reply_id += "_"
    return reply_id
