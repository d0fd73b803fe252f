"""Holds what came of one answer so far, in whatever state the connection leaves it, and makes the reply of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from interlock.loop.model import Reply
from interlock.models.codec import Codec, Reader
from interlock.models.strict import BODY_BYTES_MAX, TOO_LARGE
from interlock.models.turn import REASON_CHARACTERS_MAX, Ended, Turn
from interlock.providers.faults import may_repeat_error, may_repeat_status, retry_after_s

ERROR_BYTES_MAX: Final = 256 * 1024
HIDDEN: Final = b"[hidden]"
_REDIRECTED: Final = "The server answered that it is elsewhere; set `base_url` to where it is."
_PAGE: Final = "The server answered with a web page; look whether `base_url` is that of the API."
_PACKED: Final = "The server compressed its answer, although it was asked not to."
_CUT: Final = "The connection ended before the answer did."
_OK: Final = range(200, 300)
_EVENTS: Final = (b"data:", b"event:", b"id:", b":")


class Incoming:
    """One answer: `begin` with its head, `take` its pieces, `fail` where the connection did, then `reply`."""

    def __init__(self, codec: Codec, *, streamed: bool, secrets: Sequence[bytes], repeatable: frozenset[int]) -> None:
        self._codec = codec
        self._asked_stream = streamed
        self._secrets = secrets
        self._repeatable = repeatable
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._body = bytearray()
        self._reader: Reader | None = None
        self._taken = 0
        self._fault = ""
        self._transient = False
        self._refusal = ""

    def begin(self, status: int, *, headers: Mapping[str, str]) -> None:
        """The head of the answer. `headers` has lower-case names."""
        self._status, self._headers = status, headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
            self._refusal = _PACKED
        elif status in _OK and kind == "text/html":
            self._refusal = _PAGE
        elif status in _OK and self._asked_stream and kind != "application/json":
            self._reader = self._codec.reader()

    def take(self, piece: bytes) -> None:
        """The next bytes of the body."""
        self._taken += len(piece)
        if self._taken > BODY_BYTES_MAX:
            self._refusal = TOO_LARGE
        elif self._reader is not None:
            self._reader.feed(piece)
        elif not self._refusal:
            self._body += piece

    @property
    def over(self) -> bool:
        """Nothing that comes from here on changes the reply."""
        if self._refusal or (self._status not in _OK and self._taken > ERROR_BYTES_MAX):
            return True
        return self._reader is not None and self._reader.over

    @property
    def begun(self) -> bool:
        """The head of the answer has come."""
        return self._status != 0

    def fail(self, reason: str, *, transient: bool) -> None:
        """The connection gave no more. Where `transient`, the same request may do better later."""
        self._fault, self._transient = reason, transient

    def reply(self, *, now_s: float) -> Reply:
        """The reply. `now_s` is the time in seconds since 1970."""
        turn = self._without_secrets(self._turn())
        waits = retry_after_s(self._headers, error=turn.error, now_s=now_s)
        streamed = self._reader is not None
        return Reply(turn, self._status, streamed, retry_after_s=waits, may_repeat=self._may_repeat(turn))

    def _turn(self) -> Turn:
        if not self.begun:
            return nothing(self._fault)
        if self._status not in _OK:
            return self._refused()
        if self._refusal:
            return nothing(self._refusal, ended=Ended.ERROR)
        if self._reader is not None:
            turn = self._reader.end()
            return replace(turn, reason=self._fault or turn.reason) if turn.ended is Ended.DROPPED else turn
        if self._fault:
            return nothing(self._fault)
        return self._whole(bytes(self._body))

    def _refused(self) -> Turn:
        if self._status >= 400:
            return self._codec.read_response(bytes(self._body[:ERROR_BYTES_MAX]), status=self._status)
        return nothing(f"HTTP {self._status}: {_REDIRECTED}", ended=Ended.HTTP_ERROR)

    def _whole(self, body: bytes) -> Turn:
        """Some servers stream under the name of JSON."""
        if self._asked_stream and body.lstrip().startswith(_EVENTS):
            self._reader = self._codec.reader()
            self._reader.feed(body)
            return self._reader.end()
        return self._codec.read_response(body, status=self._status)

    def _may_repeat(self, turn: Turn) -> bool:
        if not self.begun:
            return self._transient
        if self._status not in _OK:
            return may_repeat_status(self._status, headers=self._headers, error=turn.error, repeatable=self._repeatable)
        if turn.ended is Ended.DROPPED:
            return self._transient or not self._fault
        return turn.ended is Ended.ERROR and may_repeat_error(turn.error)

    def _without_secrets(self, turn: Turn) -> Turn:
        """A server may repeat the key that it was sent, in an error above all: what is kept must not hold it."""
        hidden = turn.raw
        for secret in self._secrets:
            hidden = hidden.replace(secret, HIDDEN)
        if hidden == turn.raw:
            return turn
        if self._reader is not None:
            return self._codec.read_stream([hidden], status=self._status)
        return self._codec.read_response(hidden, status=self._status)


def nothing(reason: str, *, ended: Ended = Ended.DROPPED) -> Turn:
    """A turn that holds nothing but the reason why."""
    return Turn(text="", calls=(), ended=ended, reason=(reason or _CUT)[:REASON_CHARACTERS_MAX])
