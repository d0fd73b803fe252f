"""The agent's tools show a model what was tried with it, and save exactly what was frozen."""

from pathlib import Path

import pytest
from documents import Library, Passage
from prompts import SAVE_DESCRIPTION, SAVE_NAME, SAVE_SCHEMA, SEARCH_DESCRIPTION, SEARCH_NAME, SEARCH_SCHEMA
from quotations import quoted
from research_tools import Saved, research_tools

from interlock import ToolFault
from interlock.core.canonical import decode
from interlock.core.tool_compile import compile_tool

PASSAGES = (Passage("a.md", 1, 1, "", "First."), Passage("a.md", 3, 3, "", "Second."))
FROZEN = {"task": "t1", "question": "Why?", "found": quoted(PASSAGES, numbers=[1, 2])}


@pytest.mark.requirement("TOOL-4")
def test_a_model_sees_the_names_sentences_and_schemas_that_were_tried_and_nothing_injected(tmp_path: Path) -> None:
    with Library(PASSAGES) as library:
        search, save, _ = (compile_tool(each.spec()) for each in research_tools(library, drafts=tmp_path))
    assert (search.spec.name, search.spec.description) == (SEARCH_NAME, SEARCH_DESCRIPTION)
    assert (save.spec.name, save.spec.description) == (SAVE_NAME, SAVE_DESCRIPTION)
    assert decode(search.model_schema) == SEARCH_SCHEMA
    assert decode(save.model_schema) == SAVE_SCHEMA


def test_a_draft_quotes_what_was_frozen_in_the_order_proposed_and_is_found_again(tmp_path: Path) -> None:
    with Library(()) as library:
        _, save, _ = research_tools(library, drafts=tmp_path)
    find = save.functions.reconcile
    assert find is not None
    assert find(draft_id="abc-def", passages=[2, 1], **FROZEN) is None
    saved = save.functions.handler(draft_id="abc-def", passages=[2, 1], **FROZEN)
    assert isinstance(saved, Saved)
    text = Path(saved.file).read_text(encoding="utf-8")
    assert text.index("> Second.") < text.index("> First.")
    assert find(draft_id="abc-def", passages=[2, 1], **FROZEN) == saved
    assert find(draft_id="abc-def", passages=[1, 2], **FROZEN) is None


@pytest.mark.parametrize(("passages", "code"), [([1, 5], "NO_SUCH_PASSAGE"), ([1, 2], "DRAFT_TAKEN")])
def test_what_cannot_be_saved_is_a_declared_error_and_leaves_nothing_behind(
    tmp_path: Path, passages: list[int], code: str
) -> None:
    with Library(()) as library:
        _, save, _ = research_tools(library, drafts=tmp_path)
    there = tmp_path / "t1" / "abc-def.md"
    there.parent.mkdir()
    there.write_text("another", encoding="utf-8")
    with pytest.raises(ToolFault) as refused:
        save.functions.handler(draft_id="abc-def", passages=passages, **FROZEN)
    assert refused.value.code == code
    assert [path.read_text(encoding="utf-8") for path in there.parent.iterdir()] == ["another"]
    assert all(each.nothing_happened for each in save.spec().errors)
