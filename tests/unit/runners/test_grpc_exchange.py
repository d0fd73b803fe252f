"""A call is made once, its answer read within the limit, and how far it got is known."""

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from interlock.core.grpc_answer import Ended
from interlock.core.grpc_call import GrpcCall
from interlock.core.http_address import read_allowed
from interlock.core.http_answer import Answer
from interlock.core.http_template import Origin, Template
from interlock.declare.grpc_descriptor import described
from interlock.runners import grpc_exchange
from interlock.runners.exchange import NoAnswer, Progress, Terms
from interlock.runners.grpc_channel import Channels, Way
from interlock.runners.grpc_exchange import Exchanges, Illegible, Sending
from interlock.runners.grpc_message import Messages
from tests import grpc_upstream as server
from tests.grpc_upstream import (
    ACT,
    DESCRIPTOR,
    WATCH,
    ActRequest,
    Behaviour,
    Exchange,
    Upstream,
    status,
    thing,
    upstream,
)

KNOWN = described(DESCRIPTOR)
MESSAGES = Messages(KNOWN.encoded(KNOWN.method(ACT).input_type, KNOWN.method(ACT).output_type))
ONE = b'{"count":0,"note":"","thingId":"7"}'


async def sent(
    behave: Behaviour, *, path: str = ACT, is_read: bool = True, limit: int = 65_536, within_s: float = 10.0
) -> tuple[Any, Progress, Upstream]:
    progress = Progress()
    async with upstream(behave) as found:
        origin = Origin("http", "127.0.0.1", found.port)
        call = GrpcCall(Template("POST", origin, path), "things.v1.ActRequest", "things.v1.Thing", path == WATCH)
        sending = Sending(call, Way(origin, 5.0, 1 << 20), ActRequest(thing_id="7").SerializeToString(), (("a", "b"),))
        exchanges = Exchanges(Channels(allowed=read_allowed(["127.0.0.1"])))
        terms = Terms(limit, 5.0, within_s, is_read)
        answer = await exchanges.send(sending, messages=MESSAGES, terms=terms, progress=progress)
        await exchanges.close()
    return answer, progress, found


def streaming(count: int, note: str = "") -> Behaviour:
    async def behave(exchange: Exchange) -> Sequence[bytes]:
        return [thing(exchange.asked, note=note)] * count

    return behave


async def test_a_message_is_json_and_metadata_arrive() -> None:
    answer, progress, found = await sent(server.ok)
    assert answer == Answer(200, ONE, "application/json")
    assert progress.is_sent
    assert found.received[0].metadata["a"] == "b"


@pytest.mark.parametrize(
    ("count", "data"), [(0, b"[]"), (1, b"[" + ONE + b"]"), (3, b"[" + b",".join([ONE] * 3) + b"]")]
)
async def test_the_messages_of_a_stream_are_one_list(count: int, data: bytes) -> None:
    answer, _, _ = await sent(streaming(count), path=WATCH)
    assert answer == Answer(200, data, "application/json")


@pytest.mark.requirement("OBS-4")
async def test_no_more_of_a_stream_is_read_than_its_limit() -> None:
    answer, _, _ = await sent(streaming(1_000, "x" * 10_000), path=WATCH, limit=1_000)
    assert isinstance(answer, Answer)
    assert (len(answer.data), answer.is_whole) == (1_000, False)


@pytest.mark.requirement("OBS-4", "EXEC-6")
async def test_of_an_effect_the_rest_is_read_for_only_its_end_says_that_it_went_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def breaks(exchange: Exchange) -> Any:
        return [*[thing(exchange.asked, note="x" * 1_000)] * 50, RuntimeError("a fault of the server")]

    answer, _, _ = await sent(streaming(50, "x" * 1_000), path=WATCH, is_read=False, limit=1_000)
    assert isinstance(answer, Answer)
    assert isinstance((await sent(breaks, path=WATCH, is_read=True, limit=1_000))[0], Answer)
    assert isinstance((await sent(breaks, path=WATCH, is_read=False, limit=1_000))[0], Ended)
    monkeypatch.setattr(grpc_exchange, "KEPT_BYTES_MAX", 20_000)
    endless, _, _ = await sent(streaming(50, "x" * 1_000), path=WATCH, is_read=False, limit=1_000)
    assert isinstance(endless, NoAnswer)


async def test_a_status_is_an_end_with_the_wait_that_it_asks_for() -> None:
    assert (await sent(status("NOT_FOUND")))[0] == Ended("NOT_FOUND")
    assert (await sent(status("UNAVAILABLE", trailing=server.waiting(3))))[0] == Ended("UNAVAILABLE", 3.0)
    assert (await sent(status("CANCELLED")))[0] == Ended("CANCELLED")
    assert (await sent(server.silence, within_s=0.2))[0] == Ended("DEADLINE_EXCEEDED")


async def test_an_answer_of_another_kind_is_told_as_such() -> None:
    async def torn(exchange: Exchange) -> Sequence[bytes]:
        return [thing(exchange.asked), b"\xff"]

    assert (await sent(server.garbage))[0] == Illegible()
    assert isinstance((await sent(torn, path=WATCH))[0], NoAnswer)


async def test_a_message_that_is_too_large_is_not_asked_for_again() -> None:
    answer, progress, _ = await sent(server.too_large)
    assert isinstance(answer, NoAnswer)
    assert (answer.passes, progress.is_sent) == (False, True)
    said = await sent(status("INTERNAL", details="message larger than max"))
    assert said[0] == Ended("INTERNAL")


@pytest.mark.requirement("EXEC-1", "EXEC-2")
async def test_what_has_no_time_left_once_it_is_connected_is_not_sent() -> None:
    answer, progress, found = await sent(server.ok, within_s=0.0)
    assert isinstance(answer, NoAnswer)
    assert (answer.passes, progress.is_sent, found.connections, found.received) == (True, False, 1, [])


@pytest.mark.requirement("EXEC-2")
async def test_what_was_never_connected_was_not_sent() -> None:
    answer, progress, _ = await sent(server.reset_at_once)
    assert isinstance(answer, NoAnswer)
    assert (answer.passes, progress.is_sent) == (True, False)
