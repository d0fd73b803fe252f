"""Collects the blocks that a turn is made of, for the providers whose turns are lists of blocks.

Anthropic Messages and Bedrock Converse differ in how they spell a block and how they stream it; what a block is, when a
call in it is whole and how a turn ended is the same. Pieces are added as they come; nothing is mended on the way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from interlock.models.strict import free_id, raw_text, strict_json, text
from interlock.models.turn import REASON_CHARACTERS_MAX, Ended, Proposed, ProviderCall, Turn, Usage

CALLS_MAX: Final = 128
INPUT: Final = "input"
_PLACES: Final = (int, str)
_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_-]")


class Does(Enum):
    """What a block is for. Only a `CALL` is ours to answer; `PROVIDER_CALL` is work that the provider does itself."""

    TEXT = auto()
    CALL = auto()
    PROVIDER_CALL = auto()
    OTHER = auto()


@dataclass(slots=True)
class Block:
    """One block. `body` is what it began as, `grown` the text that was added to its fields since."""

    kind: str
    does: Does
    body: dict[str, object]
    closed: bool = False
    grown: dict[str, list[str]] = field(default_factory=dict)

    def grow(self, name: str, piece: object) -> None:
        """Add a piece of text to a field."""
        if isinstance(piece, str):
            pieces = self.grown.get(name)
            if pieces is None:
                self.grown[name] = [piece]
            else:
                pieces.append(piece)

    def grow_input(self, piece: object) -> None:
        """Add a piece of the input. One that is no text is written down as the JSON text of what it is."""
        self.grow(INPUT, raw_text(piece))

    def words(self, name: str) -> str:
        """The whole text of a field."""
        return text(self.body.get(name)) + "".join(self.grown.get(name, ()))

    def arguments(self) -> str:
        """The input as JSON text. An input that began whole and went on in pieces stays both, which is no JSON."""
        began, pieces = self.body.get(INPUT), "".join(self.grown.get(INPUT, ()))
        if began is None or began in ("", {}):
            return pieces or ("{}" if began == {} else "")
        return json.dumps(began) + pieces

    def whole(self) -> dict[str, object]:
        """The block as the provider would have sent it in one piece. Input that is no JSON object becomes `{}`."""
        body = self.body | {name: self.words(name) for name in self.grown if name != INPUT}
        if self.does in {Does.CALL, Does.PROVIDER_CALL}:
            body[INPUT] = object_of(self.arguments())
        return body


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a provider spells what a turn is judged by. `stops` says how a turn with this word for its end ended."""

    id_field: str
    stops: Mapping[str, Ended]
    calling: str
    facts: tuple[str, ...] = ()


@dataclass(slots=True)
class BlockDraft:
    """A turn that is still being read. `fault` is what makes it unusable, `cut` an event that was not whole."""

    dialect: Dialect
    blocks: list[Block] = field(default_factory=list)
    at: dict[object, Block] = field(default_factory=dict)
    stop: str | None = None
    fault: str = ""
    error: str = ""
    words: str = ""
    usage: Usage = field(default_factory=Usage)
    response_id: str = ""
    beside: dict[str, object] = field(default_factory=dict)
    closed: bool = False
    cut: bool = False

    def restart(self) -> None:
        """The message begins anew: what was read of it so far is left behind."""
        self.blocks, self.at, self.stop, self.usage, self.beside = [], {}, None, Usage(), {}

    def begin(self, block: Block, *, index: object) -> None:
        """A block begins at its place in the turn."""
        self.blocks.append(block)
        self.at[index] = block

    def open_at(self, index: object) -> Block | None:
        """The block that is being written at a place; None where there is none or it was closed."""
        block = self.at.get(index)
        return None if block is None or block.closed else block

    def close(self, index: object) -> None:
        """A block is whole."""
        if (block := self.at.get(index)) is not None:
            block.closed = True

    def take_stop(self, stop: object) -> None:
        """A stop that forbids calls is kept, whatever a later event says."""
        if isinstance(stop, str) and (not self.stop or self.dialect.stops.get(self.stop) is Ended.CALLS_ALLOWED):
            self.stop = stop or self.stop or ""

    def take_error(self, words: str, *, error: str) -> None:
        """What the provider says went wrong, in words and as JSON text. The first error counts."""
        if not self.fault:
            self.fault, self.error = words, error

    def fail(self, fault: str) -> None:
        """What was sent cannot be read."""
        self.fault = self.fault or fault

    @property
    def over(self) -> bool:
        """Nothing that comes from here on changes the turn."""
        return self.closed or bool(self.fault)

    def finish(self, *, raw: bytes) -> Turn:
        """Judge the turn."""
        calls = [block for block in self.blocks if block.does is Does.CALL]
        ended, reason = self._judge(len(calls))
        if ended is Ended.TRUNCATED and calls:
            calls[-1].closed = False
        proposed = self._proposed(calls)
        return Turn(
            text="".join(block.words("text") for block in self.blocks if block.does is Does.TEXT),
            calls=proposed,
            ended=ended,
            stop=self.stop,
            reason=reason[:REASON_CHARACTERS_MAX],
            usage=self.usage,
            echo=json.dumps({"content": self._echo(proposed)} | self.beside),
            raw=raw,
            provider_calls=tuple(map(self._provider_call, self._of(Does.PROVIDER_CALL))),
            items=tuple(block.kind for block in self.blocks),
            error=self.error,
            response_id=self.response_id,
        )

    def _judge(self, calls: int) -> tuple[Ended, str]:
        if self.fault:
            return Ended.ERROR, self.fault
        if calls > CALLS_MAX:
            return Ended.ERROR, f"The turn holds more than {CALLS_MAX} calls."
        if self.cut or (not self.closed and not self.stop):
            return Ended.DROPPED, "The connection ended before the turn did."
        ended = self.dialect.stops.get(self.stop or self.dialect.calling)
        if ended is None:
            return Ended.ERROR, f"The turn ended in an unknown way: {self.stop}"
        if ended is not Ended.CALLS_ALLOWED:
            return ended, self.words or _WHY[ended]
        if not calls and self.stop == self.dialect.calling:
            return Ended.MODEL_ERROR, "The turn ended in tool calls and holds none."
        return (Ended.CALLS_ALLOWED if calls else Ended.ANSWER), ""

    def _of(self, does: Does) -> Iterable[Block]:
        return (block for block in self.blocks if block.does is does)

    def _proposed(self, calls: list[Block]) -> tuple[Proposed, ...]:
        wire_ids = [text(block.body.get(self.dialect.id_field)) for block in calls]
        return tuple(
            Proposed(
                position=position,
                wire_id=wire_id or None,
                reply_id=reply_id,
                name=text(block.body.get("name")),
                arguments_raw=block.arguments(),
                closed=block.closed,
                namespace=text(block.body.get("toolset_name")),
                caller=json.dumps(block.body["caller"]) if block.body.get("caller") else "",
            )
            for position, (block, wire_id, reply_id) in enumerate(
                zip(calls, wire_ids, reply_ids(wire_ids), strict=True)
            )
        )

    def _provider_call(self, block: Block) -> ProviderCall:
        facts = {name: block.body[name] for name in self.dialect.facts if block.body.get(name) is not None}
        return ProviderCall(
            name=text(block.body.get("name")),
            wire_id=text(block.body.get(self.dialect.id_field)) or None,
            kind=text(block.body.get("type")),
            arguments_raw=block.arguments(),
            facts=json.dumps(facts),
        )

    def _echo(self, calls: tuple[Proposed, ...]) -> list[dict[str, object]]:
        """The blocks with their kinds. What the end cut short goes back only where it must be answered or is text."""
        replies = iter(calls)
        entries: list[dict[str, object]] = []
        for block in self.blocks:
            whole = block.whole()
            if block.does is Does.CALL:
                whole[self.dialect.id_field] = next(replies).reply_id
            elif block.does is Does.TEXT:
                if not block.words("text").strip():
                    continue
            elif not block.closed:
                continue
            entries.append({"kind": block.kind, "body": whole})
        return entries


_WHY: Final = {
    Ended.TRUNCATED: "The turn was cut at the token limit.",
    Ended.REFUSED: "The provider withheld the turn.",
    Ended.PAUSED: "The provider has more work to do: send the turn back as it is.",
    Ended.MODEL_ERROR: "The model wrote something that is no turn.",
}


def place(index: object) -> str | None:
    """The place of a block in its turn, whether a server numbers it or spells the number."""
    return str(index) if isinstance(index, _PLACES) else None


def sums(before: Usage, *, sent: int | None, received: int | None) -> Usage:
    """The usage after a further report. Reports are sums so far: a smaller one says less than is known."""
    return Usage(_larger(before.input_tokens, sent), _larger(before.output_tokens, received))


def _larger(before: int | None, now: int | None) -> int | None:
    return now if before is None else max(before, now or 0)


def reply_ids(wire_ids: list[str]) -> list[str]:
    """One label for each call of a turn: the wire's own where it is there and the first of its kind."""
    taken = set(wire_ids)
    answered: set[str] = set()
    labels = []
    for position, wire_id in enumerate(wire_ids):
        label = wire_id if wire_id and wire_id not in answered else free_id(position, taken)
        taken.add(label)
        answered.add(label)
        labels.append(label)
    return labels


def sendable_name(name: str, *, characters_max: int) -> str:
    """A name for the history, where providers refuse foreign characters and nothing is looked up by it any more."""
    return _FOREIGN.sub("_", name)[:characters_max] or "unnamed"


def object_of(source: str) -> dict[str, object]:
    """The object that a JSON text stands for; an empty one where it stands for none that can be sent again."""
    try:
        value = strict_json(source)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
