"""Models of a provider and of a server of one's own, for the runs of a gate."""

import asyncio
from collections.abc import Mapping

from interlock import Gate, Host, Model, Price
from interlock.providers import OpenAIChat, Patience, model_of


def models(environ: Mapping[str, str]) -> list[Model]:
    """One of a provider, and one of a server of one's own that is waited for longer."""
    return [
        model_of("openai:gpt-5-mini", environ),
        OpenAIChat(
            "small",
            base_url="http://127.0.0.1:8080/v1",
            name="small",
            tokens_max=500,
            price=Price(250_000, 2_000_000),  # for limits on cost: a million tokens in, a million out
            patience=Patience(first_byte_s=600, total_s=1_800),
        ),
    ]


async def main() -> None:
    """Open a gate with them; nothing is asked before a run is started."""
    known = models({"OPENAI_API_KEY": "no-key-at-all"})  # a program says os.environ
    async with Gate.open(host=Host(models=known)):
        assert [each.name for each in known] == ["openai:gpt-5-mini", "small"]


asyncio.run(main())
