"""HTTP tools: one request each, fixed but for its arguments, and what the answers to it mean."""

import asyncio
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

from interlock import (
    Credential,
    Gate,
    Host,
    HttpError,
    HttpLookUp,
    HttpParameter,
    HttpTool,
    PolicySource,
    Principal,
    Settings,
    Status,
    ToolCall,
    http_tool,
)

POLICY = PolicySource("all", '@id("all") permit(principal, action, resource);')


class Orders(BaseHTTPRequestHandler):
    """Somebody's order service, for this program: it loses the answer to every first order."""

    placed: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        """Read an order."""
        order = self.placed.get(self.path)
        self.answer(404 if order is None else 200, {"article": order})

    def do_PUT(self) -> None:
        """Place an order."""
        assert self.headers["Authorization"] == "Bearer token-of-acme"
        assert len(self.headers["Idempotency-Key"]) == 64  # the same for every repeat of the same operation
        article = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["article"]
        if article == "unicorn":
            self.answer(422, {"reason": "not on the list"})
            return
        self.placed[self.path] = article
        self.close_connection = True  # it is placed, and nobody is told

    def answer(self, status: int, body: Mapping[str, object]) -> None:
        """Answer with JSON."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the standard library names it
        """Say nothing."""


class Vault:
    """Where credentials come from: the `Secrets` protocol."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """Those of the named that this principal's tenant has."""
        return dict.fromkeys(names, f"token-of-{principal.tenant}")


def place_order_at(api: str) -> HttpTool:
    """The tool; `api` is such as https://api.example.com."""
    return http_tool(
        name="place_order",
        description="Place an order under a number of your own.",
        effect="write",
        key=["order_id"],
        method="PUT",
        url=f"{api}/v1/orders/{{order_id}}",  # scheme, host and port are literal
        parameters=[
            HttpParameter("order_id", "path", {"type": "string", "maxLength": 20}),
            HttpParameter("article", "body", {"type": "string", "maxLength": 80}),
        ],
        body="json",
        credentials=[Credential("orders_token")],  # a bearer token, by the name that the host's secrets have for it
        errors=[HttpError(422, "NOT_SOLD", nothing_happened=True, description="This is not sold here.")],
        reconcile=HttpLookUp(
            f"{api}/v1/orders/{{order_id}}",
            parameters=(HttpParameter("order_id", "path"),),
            not_happened=(404,),  # without this a 404 would prove nothing
        ),
    )


async def run(api: str) -> None:
    """What a model would do."""
    alice = Principal("acme", "alice")
    settings = Settings(egress_allow=("127.0.0.1",))  # else a tool reaches public addresses only
    order = ToolCall("c1", "place_order", {"order_id": "o1", "article": "chair"})
    tools, host = [place_order_at(api)], Host(secrets=Vault())
    async with Gate.open(tools=tools, policies=[POLICY], settings=settings, host=host) as gate:
        lost = await gate.call(order, principal=alice, task="furnish")
        assert lost.status is Status.UNKNOWN  # it may have been placed: it is not sent again
        await gate.recovery.recover()  # opening a gate does this too: it asks the look-up
        found = await gate.call(order, principal=alice, task="furnish")
        assert (found.status, found.replayed, found.data) == (Status.OK, True, {"article": "chair"})

        unsold = ToolCall("c2", "place_order", {"order_id": "o2", "article": "unicorn"})
        refused = await gate.call(unsold, principal=alice, task="furnish")
        assert refused.error is not None
        assert refused.error.details == {"tool_code": "NOT_SOLD"}

        outside = ToolCall("c3", "place_order", {"order_id": "../admin", "article": "chair"})
        climbed = await gate.call(outside, principal=alice, task="furnish")
        assert climbed.status is Status.REFUSED  # nothing was sent
    assert Orders.placed == {"/v1/orders/o1": "chair"}


def main() -> None:
    """Serve on loopback, and call."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Orders)
    Thread(target=server.serve_forever, daemon=True).start()
    asyncio.run(run(f"http://127.0.0.1:{server.server_port}"))
    server.shutdown()
    server.server_close()


if __name__ == "__main__":
    main()
