"""The agent's tools: ordinary functions, each declared with everything that governs it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final

from documents import RESULTS_MAX, Library, Passage
from drafts import DRAFT_ID_PATTERN, Draft, Written, compose_draft, draft_path, find_draft, write_draft_atomically
from prompts import QUERY_CHARACTERS_MAX
from quotations import NoSuchPassage, chosen

from interlock import (
    Arg,
    Confidentiality,
    Declaration,
    ErrorContract,
    EvidenceKind,
    EvidenceRule,
    Labels,
    Localized,
    Result,
    Risk,
    Source,
    ToolFault,
    Trust,
    tool,
)

# Tight schemas are kind to a small model. What is injected the model neither sees nor supplies.
Query = Annotated[
    str, Arg(min_length=3, max_length=QUERY_CHARACTERS_MAX, pattern="^[A-Za-z][A-Za-z0-9 -]{1,46}[A-Za-z0-9]$")
]
DraftId = Annotated[str, Arg(max_length=21, pattern=DRAFT_ID_PATTERN)]
Numbers = Annotated[list[Annotated[int, Arg(ge=1, le=RESULTS_MAX)]], Arg(min_length=2, max_length=3)]
Task = Annotated[str, Arg(inject="task")]
Question = Annotated[str, Arg(inject="claims.question")]
Found = Annotated[str, Arg(inject="claims.found")]

HOUSE: Final = Labels(Confidentiality.INTERNAL, Trust.UNTRUSTED, frozenset({"documents"}))
NO_PASSAGE: Final = ErrorContract(
    "NO_SUCH_PASSAGE", nothing_happened=True, description="It was not frozen with the call."
)
TAKEN: Final = ErrorContract("DRAFT_TAKEN", nothing_happened=True, description="Another draft has this id.")

PROMISES: Final = {
    "ok": "The draft is saved.",
    "waiting": "The draft is not saved yet: a reviewer has to approve it.",
    "unknown": "It is not known yet whether the draft was saved.",
}
SEARCH_ZH: Final = Localized(title="搜索文档", description="按几个词搜索文档。")
SAVE_ZH: Final = Localized(
    title="保存草稿",
    description="用找到的段落保存一份草稿。",
    summary="为问题“{question}”保存草稿 {draft_id}，由下列编号的段落组成",
)


@dataclass(frozen=True, slots=True)
class Saved:
    """A draft on disk, and the proposal that it came from."""

    draft_id: str
    passages: list[int]
    file: str
    sha256: str
    size_bytes: int


def research_tools(library: Library, *, drafts: Path) -> tuple[Declaration, ...]:
    """The tools over one folder of documents. A task's drafts lie in a folder of its own below `drafts`."""

    @tool(
        effect="read",
        owner="research",
        evidence=EvidenceRule(EvidenceKind.CANDIDATE, quotable=True),
        labels=HOUSE,
        localized={"zh": SEARCH_ZH},
    )
    def search_documents(query: Query) -> Result:
        """Search the documents for a few words."""
        found = library.search(query)
        return Result([*found], sources=tuple(map(_source, found)))

    def find_saved(draft_id: str, task: str, passages: list[int], question: str, found: str) -> Saved | None:
        """Whether exactly this draft is on disk: asked when the program died before it could say so."""
        draft = find_draft(drafts / task, draft_id=draft_id)
        if draft is None:
            return None
        text = compose_draft(draft_id, question=question, passages=chosen(found, numbers=passages))
        return _saved(draft, passages) if draft.sha256 == sha256(text.encode()).hexdigest() else None

    @tool(
        effect="write",
        owner="research",
        risk=Risk.MEDIUM,
        key=["draft_id"],
        resource=("Draft", "{task}/{draft_id}"),
        reconcile=find_saved,
        errors=[NO_PASSAGE, TAKEN],
        labels=HOUSE,
        summary="Save the draft {draft_id}, made of the numbered passages below, for the question: {question}",
        promises=PROMISES,
        localized={"zh": SAVE_ZH},
    )
    def save_draft(draft_id: DraftId, passages: Numbers, task: Task, question: Question, found: Found) -> Saved:
        """Save a draft made of found passages."""
        try:
            text = compose_draft(draft_id, question=question, passages=chosen(found, numbers=passages))
        except NoSuchPassage as missing:
            raise ToolFault(NO_PASSAGE.code, str(missing)) from missing
        return _write(drafts / task, draft_id=draft_id, text=text, passages=passages)

    @tool(effect="destructive", owner="research", risk=Risk.HIGH, resource=("Draft", "{task}/{draft_id}"))
    def delete_draft(draft_id: DraftId, task: Task) -> None:
        """Delete a draft for good."""
        draft_path(drafts / task, draft_id=draft_id).unlink()

    return search_documents, save_draft, delete_draft


def _source(passage: Passage) -> Source:
    return Source(passage.file, passage.heading, passage.first_line, passage.last_line)


def _write(folder: Path, *, draft_id: str, text: str, passages: list[int]) -> Saved:
    path = draft_path(folder, draft_id=draft_id)
    draft = None if write_draft_atomically(path, text=text) is Written.TAKEN else find_draft(folder, draft_id=draft_id)
    if draft is None:
        raise ToolFault(TAKEN.code, f"Another draft is there already: {path.name}.")
    return _saved(draft, passages)


def _saved(draft: Draft, passages: list[int]) -> Saved:
    return Saved(draft.draft_id, passages, str(draft.path), draft.sha256, draft.size_bytes)
