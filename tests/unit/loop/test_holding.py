"""A request to a model holds the most that it can use of budgets that others count in, and settles what it used."""

import asyncio
from collections.abc import Mapping

import pytest

from interlock import Limit, ScopeKind, Unit
from interlock.core.budget import NOTHING
from interlock.loop.holding import cost_of, most_of, most_used, used_by, used_in_vain
from interlock.loop.machine import State
from interlock.loop.model import Price, Reply
from interlock.models.turn import Ended, Turn, Usage
from interlock.testing.models import ScriptedModel, reply_of
from tests.gates import Shelf, records
from tests.runs import opened, start

pytestmark = pytest.mark.requirement("BUD-2", "BUD-3")

BODY = {"messages": [{"role": "user", "content": "hi"}]}
PRICE = Price(3_000_000, 15_000_000)


def test_the_most_is_a_token_a_byte_and_all_that_may_be_answered() -> None:
    model = ScriptedModel([], price=PRICE)
    most = most_of(model, BODY)
    sent = len('{"messages": [{"role": "user", "content": "hi"}]}')
    assert (most.rounds, most.tokens, most.cost_micros) == (1, sent + 1_000, sent * 3 + 15_000)
    assert (most_used(model, BODY).tokens, most_used(model, BODY).reported) == (most.tokens, False)


def test_cost_is_rounded_up_and_nothing_without_a_price() -> None:
    assert cost_of(ScriptedModel([], price=Price(1, 1)), 1, 1) == 1
    assert cost_of(ScriptedModel([], price=PRICE), 1_000, 100) == 4_500
    assert cost_of(ScriptedModel([]), 1_000, 100) == 0


@pytest.mark.parametrize(
    ("usage", "reported"), [(Usage(5, 7), True), (Usage(None, 7), False), (Usage(5, None), False), (Usage(), False)]
)
def test_what_is_not_reported_is_the_most_and_said_to_be(usage: Usage, reported: bool) -> None:
    model = ScriptedModel([], price=PRICE)
    used = used_by(model, Turn("", (), Ended.ANSWER, usage=usage), BODY)
    most = most_of(model, BODY).tokens - 1_000
    inside = most if usage.input_tokens is None else 5
    outside = 1_000 if usage.output_tokens is None else 7
    assert (used.tokens, used.reported, used.cost_micros) == (inside + outside, reported, inside * 3 + outside * 15)


def test_what_broke_off_is_charged_and_what_was_refused_is_not() -> None:
    model = ScriptedModel([], price=PRICE)
    cut = Reply(Turn("", (), Ended.DROPPED, raw=b"data:"), streamed=True)
    assert used_in_vain(model, cut, BODY) == most_used(model, BODY)
    for status in (0, 429, 503):
        assert used_in_vain(model, Reply(Turn("", (), Ended.HTTP_ERROR, raw=b"no"), status=status), BODY).tokens == 0


class Waiting(ScriptedModel):
    """A model that does not answer before it is let."""

    def __init__(self) -> None:
        super().__init__(["done"], price=PRICE)
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def ask(self, body: Mapping[str, object]) -> Reply:
        self.asked.set()
        await self.go.wait()
        return await super().ask(body)


async def test_it_is_held_while_the_model_is_asked_and_what_was_used_is_left(gate_path: str) -> None:
    model = Waiting()
    limits = [Limit(ScopeKind.TENANT, Unit.TOKENS, 100_000)]
    async with opened(gate_path, model, Shelf().tools, limits=limits) as gate:
        run = await start(gate)
        await model.asked.wait()
        (held,) = [usage for scope, usage in await gate.usage("acme") if scope.kind is ScopeKind.TENANT]
        assert 1_000 < held.held.tokens < 5_000
        model.go.set()
        await run.result()
        (left,) = [usage for scope, usage in await gate.usage("acme") if scope.kind is ScopeKind.TENANT]
        assert (left.held, left.used.rounds, left.used.tokens) == (NOTHING, 1, 30)
        assert [each["reported"] for each in await records(gate, "model.asked") if "reported" in each] == [True]


async def test_a_run_that_is_cancelled_meanwhile_is_charged_the_most(gate_path: str) -> None:
    """The provider may have been at it: nobody knows how far."""
    model = Waiting()
    limits = [Limit(ScopeKind.PRINCIPAL, Unit.TOKENS, 100_000)]
    async with opened(gate_path, model, Shelf().tools, limits=limits) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.cancel()
        assert (await run.result()).state is State.CANCELLED
        (left,) = [usage for scope, usage in await gate.usage("acme") if scope.kind is ScopeKind.PRINCIPAL]
    assert left.held == NOTHING
    assert left.used.tokens > 1_000


def test_the_reply_of_a_script_is_reported() -> None:
    assert used_by(ScriptedModel([]), reply_of("done").turn, BODY).reported
