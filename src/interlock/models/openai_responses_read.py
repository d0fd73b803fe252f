"""Reads what a Responses server sent, a whole body or a stream, into one `Turn`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from interlock.models.joining import Joint, Joints
from interlock.models.openai_read import EventReader, read_body
from interlock.models.openai_responses_draft import ResponseDraft
from interlock.models.turn import Turn

JOINTS: Final = Joints((Joint(("delta",)),), unread=(("sequence_number",), ("obfuscation",)))


class StreamReader(EventReader):
    """Reads one stream of status 200."""

    def __init__(self) -> None:
        super().__init__(ResponseDraft(), joints=JOINTS)


def read_response(body: bytes, *, status: int = 200) -> Turn:
    """Read a response that came in one piece. `status` is the HTTP status it came with."""
    return read_body(body, status=status, draft=ResponseDraft())


def read_stream(chunks: Iterable[bytes], *, status: int = 200) -> Turn:
    """Read a whole stream at once, in whatever pieces it comes. `status` is the HTTP status it came with."""
    if status >= 400:
        return read_response(b"".join(chunks), status=status)
    reader = StreamReader()
    for chunk in chunks:
        reader.feed(chunk)
    return reader.end()
