"""What a provider's server really gets when a model is asked: one request, taken down by a loopback server."""

from interlock.providers.hosted import Hosted
from tests.http_upstream import Received, status, upstream


async def sent_by(model: Hosted) -> Received:
    """The one request that asking sends, to a server that refuses it. The address of the model is moved to it."""
    async with upstream(status(400, body=b"{}")) as server:
        model.base_url = server.origin + model.base_url.partition("//")[2].partition("/")[1]
        model.base_url = model.base_url.rstrip("/")
        request = model.codec.request([{"role": "user", "content": "hello"}], options=model.options)
        reply = await model.ask(request)
        await model.close()
    assert reply.status == 400
    assert len(server.received) == 1
    return server.received[0]
