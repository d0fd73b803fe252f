"""What a program in a sandbox came to, as an outcome: its exit code by the error contract, its output read strictly.

A program has no network and no place of the machine to write to, and its files are taken after its end: until then
nothing has happened outside, which is proved for every effect class and told where it matters.
"""

from __future__ import annotations

import json
import math

from interlock.core.budget import Amounts
from interlock.core.frozen import frozen
from interlock.core.outcome import Failed
from interlock.core.program import Program
from interlock.core.refusals import Code
from interlock.core.tool import ToolSpec
from interlock.runners.encode import DEPTH_MAX, Unencodable, encode
from interlock.runners.sandbox_command import STARTED
from interlock.runners.sandbox_process import Ended

DIGITS_MAX = 4_300
"""Of an integer in the output; past that, reading it takes quadratic time."""

_SIGNALS = {137: "it was killed", 152: "it used up its time of computing", 153: "it wrote a larger file than it may"}


@frozen
class Printed:
    """What a program printed, as JSON bytes."""

    data: bytes


class _Unreadable(ValueError):
    """Carries a reason out of the decoder."""


def not_started(reason: str, *, code: Code = Code.TOOL_UNAVAILABLE) -> Failed:
    """The outcome of a call whose program was never started."""
    return Failed(code, reason, nothing_happened=True)


def stopped(spec: ToolSpec, reason: str, *, code: Code = Code.TOOL_EXCEPTION) -> Failed:
    """The outcome of a program that ran, and of which nothing was taken. An effect has not happened, a read has failed.

    It was computed all the same, so it costs what the tool costs. OUTPUT_INVALID would say that an effect was executed.
    """
    code = Code.TOOL_EXCEPTION if code is Code.OUTPUT_INVALID and spec.effect.is_effect else code
    spent = Amounts(cost_micros=spec.cost.max_micros)
    return Failed(code, f"{spec.name} {reason}.", nothing_happened=spec.effect.is_effect, spent=spent)


def printed_of(spec: ToolSpec, program: Program, ended: Ended) -> Printed | Failed:
    """What it printed, if it ended well and that is JSON."""
    if not ended.channel.startswith(STARTED):
        return not_started("The sandbox could not be set up.")
    if ended.over == "memory":
        return stopped(spec, f"was stopped: it held more than {program.limits.memory_bytes} bytes of memory")
    if ended.over:
        most = program.limits.output_bytes if ended.over != "channel" else program.limits.files_bytes
        return stopped(spec, f"was stopped: it gave more than {most} bytes", code=Code.OUTPUT_INVALID)
    if ended.code:
        return _by_exit_code(spec, program, ended.code)
    data = read_output(ended.stdout)
    if isinstance(data, Unencodable):
        return stopped(spec, f"printed what is no JSON: {data.reason}", code=Code.OUTPUT_INVALID)
    return Printed(data)


def read_output(text: bytes) -> bytes | Unencodable:
    """The JSON that stands there, strictly: one value, no key twice, no NaN, nothing that cannot be told apart."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float, strict=True
    )
    try:
        value = decoder.decode(text.decode())
    except _Unreadable as unreadable:
        return Unencodable(str(unreadable))
    except UnicodeDecodeError:
        return Unencodable("it is not UTF-8")
    except ValueError:
        return Unencodable("it is empty" if not text.strip() else "it is not one JSON value")
    except RecursionError:
        return Unencodable(f"it is nested deeper than {DEPTH_MAX} levels")
    return encode(value)


def _by_exit_code(spec: ToolSpec, program: Program, code: int) -> Failed:
    name = program.exit_codes.get(code)
    for contract in spec.errors:
        if contract.code == name:
            return Failed(
                Code.TOOL_ERROR,
                contract.description or f"{spec.name} reported {contract.code}.",
                tool_code=contract.code,
                retryable=contract.retryable,
                nothing_happened=contract.nothing_happened or spec.effect.is_effect,
                spent=Amounts(cost_micros=spec.cost.max_micros),
            )
    if code in _SIGNALS:
        return stopped(spec, f"was stopped: {_SIGNALS[code]}")
    return stopped(spec, f"ended with the exit code {code}")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Unreadable("an object has the same key twice")
    return found


def _constant(_: str) -> object:
    raise _Unreadable("it contains NaN or Infinity")


def _integer(digits: str) -> int:
    if len(digits) > DIGITS_MAX:
        raise _Unreadable(f"it holds an integer of more than {DIGITS_MAX} digits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _Unreadable("it holds a number that is too large")
    return value
