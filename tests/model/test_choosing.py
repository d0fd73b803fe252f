"""A real small model chooses tools for users' words: it proposes, and nothing is called."""

from dataclasses import replace

import pytest
from model_server import running_model

from interlock.core.selection import SelectionCase, due
from interlock.core.tool_compile import compile_tool
from interlock.loop.choosing import ModelChooser
from interlock.providers import OpenAIChat, Patience
from interlock.runtime.choosing import surfaces, tried
from tests.library import spec

pytestmark = [pytest.mark.model, pytest.mark.slow, pytest.mark.requirement("REG-13"), pytest.mark.timeout(300)]

PATIENCE = Patience(first_byte_s=120.0, between_bytes_s=60.0, total_s=180.0)


async def test_a_small_model_chooses_for_each_words_and_is_judged(installed: None) -> None:
    offered = {"": (compile_tool(spec(name="look_up", description="Look a word up in the dictionary.")),)}
    cases = [SelectionCase(words="Look up the word gate in the dictionary.", tool="look_up")]
    with running_model() as running:
        small = OpenAIChat("small", base_url=running.base_url)
        chooser = ModelChooser(replace(small, tokens_max=60, temperature=0, patience=PATIENCE))
        made = await tried(due(cases, surfaces(offered), (), chooser=chooser.name), chooser, offered)
    assert [each.case for each in made] == [cases[0].id]
    assert made[0].passed is (made[0].chosen == "look_up")
