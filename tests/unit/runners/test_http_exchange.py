"""One exchange: where redirects lead, what goes with them, which connections are used again, how far it got."""

import asyncio
import ssl

import pytest

from interlock.core.http_address import read_allowed
from interlock.core.http_answer import Answer
from interlock.core.http_build import Request
from interlock.core.http_template import Origin
from interlock.runners.egress import GuardedNetwork, SystemResolver
from interlock.runners.exchange import NoAnswer, Progress, Terms
from interlock.runners.http_exchange import Exchanges, redirected
from interlock.runners.spool import HELD_BACK
from tests import http_upstream as server
from tests.http_upstream import Exchange, Upstream, status, upstream

READ = Terms(65_536, 2.0, 2.0, is_read=True)
EFFECT = Terms(65_536, 2.0, 2.0, is_read=False)
NETWORK = GuardedNetwork(resolver=SystemResolver(), allowed=read_allowed(["127.0.0.1"]))
HEADERS = (("Accept", "*/*"), ("X-Customer", "c-7"), ("traceparent", "00-a-b-01"))
PRIVATE = (("Authorization", "Bearer s3cret"),)


def request(origin: str, target: str = "/a", method: str = "GET") -> Request:
    scheme, _, rest = origin.partition("://")
    host, _, port = rest.partition(":")
    return Request(method, Origin(scheme, host, int(port or 443)), target, HEADERS, PRIVATE)


async def sent(given: Request, terms: Terms = READ, progress: Progress | None = None) -> Answer | NoAnswer:
    exchanges = Exchanges(NETWORK)
    try:
        return await exchanges.send(given, terms=terms, progress=progress or Progress())
    finally:
        await exchanges.close()


@pytest.mark.requirement("EXEC-6", "EXEC-8")
async def test_a_redirect_to_another_origin_carries_neither_credentials_nor_arguments() -> None:
    async with upstream(server.ok) as other, upstream(status(302, location=f"{other.origin}/b?c=1")) as first:
        found = await sent(request(first.origin))
    assert isinstance(found, Answer)
    assert found.status == 200
    assert first.received[0].headers["authorization"] == "Bearer s3cret"
    there = other.received[0]
    assert (there.target, there.headers["host"], there.headers["accept"]) == (
        "/b?c=1",
        f"127.0.0.1:{other.port}",
        "*/*",
    )
    assert not {"authorization", "x-customer", "traceparent", "cookie"} & there.headers.keys()


async def test_a_redirect_within_the_origin_carries_all() -> None:
    async with upstream(server.in_turn(status(307, location="../b"), server.ok)) as found:
        await sent(request(found.origin, "/v1/a"))
    assert [each.target for each in found.received] == ["/v1/a", "/b"]
    assert found.received[1].headers["authorization"] == "Bearer s3cret"


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest", "http://[::ffff:169.254.169.254]/", "http://10.0.0.1/", "http://0x7f.1:1/",
        "file:///etc/passwd", "ftp://127.0.0.1/", "http://u:p@127.0.0.1/", "http://127.0.0.1:99999/",
        "//169.254.169.254/", "gopher://127.0.0.1:1/_x", "\x01",
    ],
)  # fmt: skip
async def test_a_redirect_to_where_no_call_may_go_is_not_followed(location: str) -> None:
    async with upstream(status(302, location=location)) as found:
        answer = await sent(request(found.origin))
    assert isinstance(answer, NoAnswer)
    assert len(found.received) == 1


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize(("method", "terms"), [("POST", EFFECT), ("GET", EFFECT), ("POST", READ)])
async def test_only_reads_that_ask_for_nothing_to_be_done_are_redirected(method: str, terms: Terms) -> None:
    async with upstream(status(307, location="/b")) as found:
        answer = await sent(request(found.origin, method=method), terms)
    assert isinstance(answer, Answer)
    assert (answer.status, len(found.received)) == (307, 1)


@pytest.mark.requirement("EXEC-6")
def test_encryption_is_not_given_up_on_the_way() -> None:
    given = request("https://api.example.com:443")
    assert isinstance(redirected(given, "http://api.example.com/"), NoAnswer)
    followed = redirected(given, "https://api.example.com/b#fragment")
    assert isinstance(followed, Request)
    assert (followed.target, followed.private) == ("/b", PRIVATE)


async def test_reads_share_a_connection_and_each_effect_has_one_of_its_own() -> None:
    async def keep(exchange: Exchange) -> None:
        for _ in range(3):
            await exchange.answer(200, b"ok", connection="keep-alive")
            await server.next_request(exchange)

    async def thrice(terms: Terms) -> int:
        async with upstream(keep) as found:
            exchanges = Exchanges(NETWORK)
            for _ in range(3):
                assert isinstance(await exchanges.send(request(found.origin), terms=terms, progress=Progress()), Answer)
            await exchanges.close()
            return found.connections

    assert (await thrice(READ), await thrice(EFFECT)) == (1, 3)


@pytest.mark.requirement("EXEC-6")
async def test_what_came_behind_an_answer_answers_no_other_request() -> None:
    async def two_at_once(exchange: Exchange) -> None:
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%b"
        await exchange.send(answer % b"1" + answer % b"2")
        await server.next_request(exchange)

    async with upstream(server.in_turn(two_at_once, status(200, body=b"3"))) as found:
        exchanges = Exchanges(NETWORK)
        told = [await exchanges.send(request(found.origin), terms=READ, progress=Progress()) for _ in range(2)]
        await exchanges.close()
    assert [each.data for each in told if isinstance(each, Answer)] == [b"1", b"3"]


@pytest.mark.requirement("OBS-4")
async def test_twenty_megabytes_are_not_read_and_their_size_is_told() -> None:
    async with upstream(server.twenty_megabytes) as found:
        answer = await sent(request(found.origin))
        assert isinstance(answer, Answer)
        assert (len(answer.data), answer.is_whole, answer.size) == (65_536 + HELD_BACK, False, 20 * 1024 * 1024)
        assert found.sent < 15_000_000


@pytest.mark.requirement("EXEC-1")
async def test_a_wait_for_the_next_byte_is_bounded() -> None:
    async with upstream(server.silence) as found:
        progress = Progress()
        answer = await sent(request(found.origin), Terms(99, 2.0, 0.05, is_read=True), progress)
    assert answer == NoAnswer("it did not answer in time")
    assert progress.is_sent


async def refused(found: Upstream) -> tuple[Answer | NoAnswer, bool]:
    progress = Progress()
    terms = Terms(99, 0.2, 0.2, is_read=True)
    return await sent(request(found.origin.replace("http:", "https:")), terms, progress), progress.is_sent


@pytest.mark.requirement("EXEC-2")
async def test_what_fails_before_a_request_goes_out_is_known_to_have_sent_nothing() -> None:
    async with upstream(server.ok) as gone:
        pass
    progress = Progress()
    assert isinstance(await sent(request(gone.origin), progress=progress), NoAnswer)
    assert not progress.is_sent
    async with upstream(server.garbage) as no_tls:
        answer, is_sent = await asyncio.wait_for(refused(no_tls), 10)
    assert isinstance(answer, NoAnswer)
    assert not is_sent


def test_certificates_are_checked() -> None:
    exchanges = Exchanges(NETWORK)
    for pool in (exchanges._kept, exchanges._fresh):
        context = pool._ssl_context
        assert isinstance(context, ssl.SSLContext)
        assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
