"""HTTP tools over TLS: the certificate is that of the name, though the connection goes to a checked address."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from interlock import Host, HttpTool, RetryRule, Status, ToolCall, http_tool
from tests.certificates import certificate_of
from tests.gates import ALICE, ALL, code, opened
from tests.http_upstream import Names

NAME = "api.example.com"


@asynccontextmanager
async def serving(certificate: Path) -> AsyncIterator[tuple[int, list[str | None], list[bytes]]]:
    """A TLS server: its port, the names that it was asked for, and the requests that got through."""
    asked, requests = list[str | None](), list[bytes]()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _, name, __: asked.append(name)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\ntrue")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1], asked, requests
    finally:
        server.close()
        await server.wait_closed()


def declared(port: int) -> HttpTool:
    return http_tool(
        name="act",
        description="Act on a thing.",
        effect="idempotent_write",
        method="POST",
        url=f"https://{NAME}:{port}/things",
        retry=RetryRule(3, backoff_ms=1, backoff_max_ms=1),
    )


def host_trusting(certificate: Path) -> Host:
    return Host(resolver=Names(["127.0.0.1"]), tls=ssl.create_default_context(cafile=str(certificate)))


@pytest.mark.requirement("EXEC-6")
async def test_host_and_certificate_stay_those_of_the_name(tmp_path: Path) -> None:
    certificate = certificate_of(NAME, tmp_path)
    async with serving(certificate) as (port, asked, requests):
        tools, host = [declared(port)], host_trusting(certificate)
        async with opened(":memory:", tools, ALL, host=host, egress_allow=["127.0.0.1"]) as gate:
            seen = await gate.call(ToolCall("c", "act", {}), principal=ALICE, task="t")
    assert (seen.status, seen.data, asked) == (Status.OK, True, [NAME])
    assert f"Host: {NAME}:{port}\r\n".encode() in requests[0]


@pytest.mark.requirement("EXEC-2", "EXEC-6")
@pytest.mark.parametrize("trusted", [True, False])
async def test_a_certificate_of_another_name_or_signer_stops_the_call_before_anything_is_sent(
    tmp_path: Path, trusted: bool
) -> None:
    other = certificate_of("other.example.com", tmp_path)
    async with serving(other) as (port, asked, requests):
        host = host_trusting(other) if trusted else Host(resolver=Names(["127.0.0.1"]))
        async with opened(":memory:", [declared(port)], ALL, host=host, egress_allow=["127.0.0.1"]) as gate:
            seen = await gate.call(ToolCall("c", "act", {}), principal=ALICE, task="t")
    assert (code(seen), seen.status, seen.retryable) == ("TOOL_UNAVAILABLE", Status.FAILED, False)
    assert (len(asked), requests) == (1, [])
