"""How a program ended and what it printed, as an outcome that is honest for every effect class."""

from dataclasses import replace

import pytest

from interlock.core.budget import Amounts
from interlock.core.effect import Effect
from interlock.core.faults import honest
from interlock.core.outcome import Failed
from interlock.core.program import Program
from interlock.core.refusals import Code
from interlock.core.tool import Cost, Document, Entrypoint, ErrorContract, ToolSpec
from interlock.runners.encode import Unencodable
from interlock.runners.sandbox_outcome import Printed, not_started, printed_of, read_output, stopped
from interlock.runners.sandbox_process import Ended

SPEC = ToolSpec(
    name="count",
    description="Count.",
    input_schema=Document.of({"type": "object"}),
    handler=Entrypoint("sandbox", "count", "0" * 64),
    effect=Effect.READ,
    errors=(ErrorContract("MISSING", description="It is not there."), ErrorContract("BUSY", retryable=True)),
    cost=Cost(7),
)
WRITE = replace(SPEC, effect=Effect.WRITE)
PROGRAM = Program(("/usr/bin/count",), exit_codes={3: "MISSING", 4: "BUSY"}, files_out="/srv")


def ended(code: int = 0, stdout: bytes = b"1", *, channel: bytes = b"s", over: str = "") -> Ended:
    return Ended(code, stdout, b"", channel, over)


def failed(found: Printed | Failed) -> Failed:
    assert isinstance(found, Failed)
    return found


def test_what_ended_well_is_what_it_printed() -> None:
    assert printed_of(SPEC, PROGRAM, ended(stdout=b' {"a": [1, 2.50]}\n')) == Printed(b'{"a":[1,2.5]}')


@pytest.mark.parametrize("spec", [SPEC, WRITE])
def test_without_the_word_that_it_starts_nothing_happened(spec: ToolSpec) -> None:
    found = failed(printed_of(spec, PROGRAM, ended(0, channel=b"")))
    assert (found.code, found.nothing_happened, found.spent) == (Code.TOOL_UNAVAILABLE, True, Amounts())


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        (ended(1), Code.TOOL_EXCEPTION, "count ended with the exit code 1."),
        (ended(137), Code.TOOL_EXCEPTION, "count was stopped: it was killed."),
        (ended(152), Code.TOOL_EXCEPTION, "count was stopped: it used up its time of computing."),
        (ended(153), Code.TOOL_EXCEPTION, "count was stopped: it wrote a larger file than it may."),
        (ended(3), Code.TOOL_ERROR, "It is not there."),
        (ended(4), Code.TOOL_ERROR, "count reported BUSY."),
        (
            ended(over="memory"),
            Code.TOOL_EXCEPTION,
            f"count was stopped: it held more than {512 << 20} bytes of memory.",
        ),
        (ended(over="stdout"), Code.OUTPUT_INVALID, "count was stopped: it gave more than 1048576 bytes."),
        (ended(over="channel"), Code.OUTPUT_INVALID, "count was stopped: it gave more than 16777216 bytes."),
        (ended(stdout=b"?"), Code.OUTPUT_INVALID, "count printed what is no JSON: it is not one JSON value."),
    ],
)
def test_every_other_end_says_what_it_was(end: Ended, code: Code, message: str) -> None:
    found = failed(printed_of(SPEC, PROGRAM, end))
    assert (found.code, found.message, found.nothing_happened) == (code, message, False)
    effect = failed(printed_of(WRITE, PROGRAM, end))
    assert isinstance(honest(effect, effect=Effect.WRITE), Failed)
    assert (effect.nothing_happened, effect.spent) == (True, Amounts(cost_micros=7))
    assert effect.code is not Code.OUTPUT_INVALID


def test_only_what_the_contract_calls_retryable_is() -> None:
    assert failed(printed_of(SPEC, PROGRAM, ended(4))).retryable
    assert not stopped(SPEC, "did not end", code=Code.TOOL_TIMEOUT).retryable
    assert not_started("It is not there.").nothing_happened


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b" ",
        b"NaN",
        b"1 1",
        b"{'a':1}",
        b'{"a":1,"a":2}',
        b"\xff",
        b"\xef\xbb\xbf1",
        b"1e400",
        b'"\\ud800"',
        b'"\n"',
    ],
)
def test_output_that_readers_could_take_in_two_ways_is_none(text: bytes) -> None:
    assert isinstance(read_output(text), Unencodable)


@pytest.mark.parametrize("text", [b"[" * 100_000, b"[" * 5_000 + b"]" * 5_000, b"9" * 5_000])
def test_output_that_is_too_much_for_a_reader_is_none(text: bytes) -> None:
    assert isinstance(read_output(text), Unencodable)
