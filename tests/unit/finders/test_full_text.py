"""Full text: fields have weights, queries are data in any script, and no tool can push itself by its words."""

import asyncio

import pytest

from interlock.core.tool import Localized
from interlock.finders.full_text import INLINE_ROWS, QUERY_WORDS_MAX, FullText
from tests.retrieval import made, orders

pytestmark = pytest.mark.requirement("REG-10")

MAIL = made("send_mail", "Sends a letter to somebody.", not_for="invoices")
INVOICE = made("bill", "Writes invoices.", use_when="a customer has to pay")
WEATHER = made("forecast", "Tells rain.", localized={"zh-CN": Localized(description="查询天气预报")})
TOOLS = (MAIL, INVOICE, WEATHER)

HOSTILE = [
    '"', "'", "NEAR(mail rain, 3)", "mail*", "name:mail", "-mail", "(", "^mail", "mail AND", "OR", "NOT mail",
    "\0", "mail\0rain", "{name} : mail", "😀", "مرحبا بالعالم", "こんにちは", "ก", "\ud800", "%s", "; DROP TABLE tools",
]  # fmt: skip


async def found(query: str, tools: tuple = TOOLS) -> list[str]:  # type: ignore[type-arg]
    return await orders(FullText(), tools)(query)


async def test_a_tool_is_found_by_its_name_its_words_and_other_forms_of_them() -> None:
    assert await found("mail") == ["send_mail"]
    assert await found("an invoice for my customer") == ["bill"]
    assert await found("is it raining") == ["forecast"]
    assert await found("nothing of the kind") == []


@pytest.mark.parametrize(("name", "word"), [("rain", "snow"), ("snow", "rain"), ("mail", "bill"), ("bill", "mail")])
async def test_a_name_weighs_more_than_a_description(name: str, word: str) -> None:
    tools = (made(name, f"Reads {word}."), made(word, f"Reads {name}."))
    others = tuple(made(f"other_{at}", f"Does thing{at}.") for at in range(5))
    assert await found(name, (*tools, *others)) == [name, word]


async def test_what_a_tool_is_not_for_counts_against_it() -> None:
    tools = (made("a", "Pays bills of people."), made("b", "Pays bills of people.", not_for="foreign bills"))
    assert await found("foreign bills", tools) == ["a", "b"]
    assert await found("invoices") == ["bill"]


@pytest.mark.parametrize("query", ["天气", "今天天气怎么样", "預報 天气", "查"])
async def test_chinese_words_find_what_is_said_in_chinese(query: str) -> None:
    assert (await found(query))[0] == "forecast"


@pytest.mark.parametrize("query", HOSTILE)
async def test_no_query_is_anything_but_words(query: str) -> None:
    assert {*await found(query)} <= {"send_mail", "forecast", "bill"}


async def test_operators_of_the_index_are_words_like_others() -> None:
    tools = (made("near", "Finds places near you."), made("far", "Finds places."))
    assert await found("NEAR", tools) == ["near"]
    assert await found("name:places", tools) == ["far", "near"]


async def test_a_query_of_any_length_is_read_to_a_bound() -> None:
    assert await found("mail " + "x" * 100_000) == ["send_mail"]
    for count in (QUERY_WORDS_MAX, 20_000):
        assert await found(" ".join(f"word{at}" for at in range(count)) + " mail") == []


async def test_words_that_are_repeated_push_no_tool_ahead() -> None:
    stuffed = made("pay_now", "invoice " * 400 + "weather mail " * 300 + " ".join(f"thing{at}" for at in range(500)))
    order = await found("write an invoice", (*TOOLS, stuffed))
    assert order[0] == "bill"


async def test_only_tools_that_are_asked_about_are_found_though_others_are_indexed() -> None:
    ranker = FullText()
    assert await orders(ranker, TOOLS)("mail") == ["send_mail"]
    assert await orders(ranker, TOOLS[1:])("mail") == []


@pytest.mark.parametrize("query", ["supplier offer bill", "supplier", "asks for an offer", "offer merger thing"])
async def test_scores_tell_nothing_of_tools_that_were_not_asked_about(query: str) -> None:
    mine = (
        made("pay", "Pays a bill to a supplier.", not_for="offers"),
        made("ask", "Asks a supplier for an offer, and for more of what it has on offer."),
        made("list_suppliers", "Lists suppliers.", use_when="a supplier is wanted"),
        *(made(f"mine_{at}", f"Does chore{at}.") for at in range(4)),
    )
    secret = tuple(made(f"secret_{at}", f"Merger with supplier {at}, on offer." + " word" * at) for at in range(9))
    ranker = FullText()
    await ranker.rank("anything", (*secret, *mine), most=9)
    assert await ranker.rank(query, mine, most=9) == await FullText().rank(query, mine, most=9)


async def test_a_new_version_is_found_by_its_new_words_alone() -> None:
    ranker, newer = FullText(), made("forecast", "Tells sunshine.", version="2")
    assert await orders(ranker, TOOLS)("rain") == ["forecast"]
    assert await orders(ranker, (*TOOLS[:2], newer))("rain") == []
    assert await orders(ranker, (*TOOLS[:2], newer))("sunshine") == ["forecast"]


async def test_many_new_tools_are_indexed_beside_the_event_loop() -> None:
    tools = tuple(made(f"tool_{at}", f"Does thing{at}.") for at in range(INLINE_ROWS + 50))
    ranker = FullText()
    at_once = await asyncio.gather(*(ranker.rank(f"thing{at}", tools, most=1) for at in range(20)))
    assert [each[0].digest for each in at_once] == [tool.digest for tool in tools[:20]]


async def test_tools_that_fit_alike_have_one_order_whichever_came_first() -> None:
    tools = tuple(made(f"twin_{name}", "Does the same.") for name in "dbac")
    one, other = await FullText().rank("same", tools, most=2), await FullText().rank("same", tools[::-1], most=2)
    assert [each.digest for each in one] == [each.digest for each in other]


async def test_a_score_says_what_it_is_made_of() -> None:
    tools = (made("a", "Pays bills."), made("b", "Pays bills.", not_for="foreign bills"))
    ranked = await FullText().rank("foreign bills", tools, most=2)
    assert all(sum(each.parts.values()) == pytest.approx(each.score) for each in ranked)
    assert ranked[1].parts["not_for"] < 0
