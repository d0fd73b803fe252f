"""gRPC tools: one method each, its message made of the arguments, and what its statuses mean."""

import asyncio
from collections.abc import Mapping
from typing import Any

import grpc
import grpc.aio
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from interlock import (
    Credential,
    ErrorContract,
    Gate,
    GrpcLookUp,
    GrpcTool,
    Host,
    PolicySource,
    Principal,
    Settings,
    Status,
    ToolCall,
    grpc_tool,
)

POLICY = PolicySource("all", '@id("all") permit(principal, action, resource);')


def descriptor() -> bytes:
    """What `protoc --include_imports --descriptor_set_out=orders.pb orders.proto` writes."""
    file = FileDescriptorProto(name="orders.proto", package="shop", syntax="proto3")
    order = file.message_type.add(name="Order")
    for number, (name, kind) in enumerate((("order_id", "STRING"), ("article", "STRING"), ("count", "INT64")), 1):
        order.field.add(name=name, number=number, type=getattr(FieldDescriptorProto, f"TYPE_{kind}"), label=1)
    service = file.service.add(name="Orders")
    for method in ("Place", "Read"):
        service.method.add(name=method, input_type=".shop.Order", output_type=".shop.Order")
    return FileDescriptorSet(file=[file]).SerializeToString()


DESCRIPTOR = descriptor()


class Orders(grpc.GenericRpcHandler):
    """Somebody's order service, for this program: it loses the answer to every first order."""

    def __init__(self) -> None:
        pool = DescriptorPool()
        pool.AddSerializedFile(FileDescriptorSet.FromString(DESCRIPTOR).file[0].SerializeToString())
        self.order: Any = GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
        self.placed: dict[str, bytes] = {}

    def service(self, handler_call_details: Any) -> Any:
        """One of the two methods."""
        is_read = handler_call_details.method.endswith("Read")
        return grpc.unary_unary_rpc_method_handler(self.read if is_read else self.place)

    async def read(self, data: bytes, context: Any) -> bytes:
        """Read an order."""
        order_id = self.order.FromString(data).order_id
        if order_id not in self.placed:
            await context.abort(grpc.StatusCode.NOT_FOUND)
        return self.placed[order_id]

    async def place(self, data: bytes, context: Any) -> bytes:
        """Place an order."""
        metadata = dict(context.invocation_metadata())
        assert metadata["authorization"] == "Bearer token-of-acme"
        assert len(metadata["idempotency-key"]) == 64  # the same for every repeat of the same operation
        order = self.order.FromString(data)
        if order.article == "unicorn":
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not on the list")
        self.placed[order.order_id] = data
        await context.abort(grpc.StatusCode.INTERNAL)  # it is placed, and nobody is told
        return data


class Vault:
    """Where credentials come from: the `Secrets` protocol."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """Those of the named that this principal's tenant has."""
        return dict.fromkeys(names, f"token-of-{principal.tenant}")


def place_order_at(target: str) -> GrpcTool:
    """The tool; `target` is such as dns:///orders.example.com:443."""
    return grpc_tool(
        name="place_order",
        description="Place an order under a number of your own.",
        effect="write",
        key=["orderId"],  # arguments have the names of the JSON mapping of protobuf
        required=["article", "count"],  # no field of proto3 must be given, unless somebody says so
        target=target,
        method="/shop.Orders/Place",
        descriptor=DESCRIPTOR,  # or the path of its file, or reflection=True: the server is asked, here and now
        plaintext=True,  # this server has no TLS
        credentials=[Credential("orders_token")],  # a bearer token, by the name that the host's secrets have for it
        errors={"FAILED_PRECONDITION": ErrorContract("NOT_SOLD", nothing_happened=True)},
        reconcile=GrpcLookUp(
            "/shop.Orders/Read",
            {"orderId": "orderId"},
            not_happened=("NOT_FOUND",),  # without this it would prove nothing
        ),
    )


async def run(target: str) -> None:
    """What a model would do."""
    alice = Principal("acme", "alice")
    settings = Settings(egress_allow=("127.0.0.1",))  # else a tool reaches public addresses only
    order = ToolCall("c1", "place_order", {"orderId": "o1", "article": "chair", "count": 4})
    tools, host = [place_order_at(target)], Host(secrets=Vault())
    async with Gate.open(tools=tools, policies=[POLICY], settings=settings, host=host) as gate:
        lost = await gate.call(order, principal=alice, task="furnish")
        assert lost.status is Status.UNKNOWN  # it may have been placed: it is not sent again
        await gate.recovery.recover()  # opening a gate does this too: it asks the look-up
        found = await gate.call(order, principal=alice, task="furnish")
        assert (found.status, found.replayed) == (Status.OK, True)
        assert found.data == {"orderId": "o1", "article": "chair", "count": 4}

        unsold = ToolCall("c2", "place_order", {"orderId": "o2", "article": "unicorn", "count": 1})
        refused = await gate.call(unsold, principal=alice, task="furnish")
        assert refused.error is not None
        assert refused.error.details == {"tool_code": "NOT_SOLD"}

        as_text = ToolCall("c3", "place_order", {"orderId": "o3", "article": "chair", "count": "4"})
        unlike = await gate.call(as_text, principal=alice, task="furnish")
        assert unlike.status is Status.REFUSED  # a number has one spelling; nothing was sent


async def main() -> None:
    """Serve on loopback, and call."""
    orders = Orders()
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((orders,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    await run(f"dns:///127.0.0.1:{port}")
    await server.stop(None)
    assert list(orders.placed) == ["o1"]


if __name__ == "__main__":
    asyncio.run(main())
