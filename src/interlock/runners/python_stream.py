"""Reads what an async generator yields as one text, of which no more than a little is ever in memory."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from interlock.core.outcome import NOTHING_MORE, Failed, Outcome, Succeeded
from interlock.core.refusals import Code
from interlock.runners.encode import Unencodable, encode
from interlock.runners.spool import STREAM_CHARS_MAX, Spool, TooLong

TOO_LONG = Failed(Code.OUTPUT_INVALID, f"It was stopped: its result went beyond {STREAM_CHARS_MAX >> 30} GB.")


class _Unshown(Exception):
    """Carries out of the loop why a piece cannot be shown."""


async def streamed(chunks: AsyncIterator[object], spool: Spool) -> Outcome:
    """The outcome of a handler that yields: text and UTF-8 bytes as they are, other values as lines of JSON."""
    decode = codecs.getincrementaldecoder("utf-8")("replace")
    try:
        async with aclosing(chunks):  # type: ignore[type-var]  # an async generator
            async for chunk in chunks:
                await spool.write(_text(chunk, decode))
    except TooLong:
        return TOO_LONG
    except _Unshown as unshown:
        return Failed(Code.OUTPUT_INVALID, f"A part of its result cannot be shown: {unshown}.")
    await spool.write(decode.decode(b"", final=True))
    whole = await spool.end()
    shown = encode(spool.shown)
    if isinstance(shown, Unencodable):
        return Failed(Code.OUTPUT_INVALID, f"Its result cannot be shown: {shown.reason}.")
    return Succeeded(shown, NOTHING_MORE if whole is None else replace(NOTHING_MORE, whole=whole))


def _text(chunk: object, decode: codecs.IncrementalDecoder) -> str:
    if isinstance(chunk, bytes | bytearray | memoryview):
        return decode.decode(bytes(chunk))
    broken = decode.decode(b"", final=True)  # a character that bytes before this began and did not end
    decode.reset()
    if isinstance(chunk, str):
        return broken + chunk
    line = encode(chunk)
    if isinstance(line, Unencodable):
        raise _Unshown(line.reason)
    return f"{broken}{line.decode()}\n"
