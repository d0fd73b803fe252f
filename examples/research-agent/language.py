"""Tells who reads in another language what would run, in the words that the tool declares for it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from session import Session

from interlock import Approval
from interlock.core.freeze import filled


def reader_language(environment: Mapping[str, str] = os.environ) -> str:
    """The language of the terminal, such as `zh`; empty where none is set."""
    locale = environment.get("LC_ALL") or environment.get("LC_MESSAGES") or environment.get("LANG") or ""
    return re.split(r"[_.@-]", locale)[0].lower()


def summary_in(language: str, *, session: Session, approval: Approval) -> str:
    """What an approval is for, in one line of this language; nothing where its tool has no words for it."""
    tools = session.gate.catalogue.visible(session.caller(proposer=""))
    words = [tool.spec.localized.get(language) for tool in tools if tool.spec.name == approval.binding.tool]
    if not words or words[0] is None:
        return ""
    draft_id = approval.binding.resource.rpartition("/")[2]
    return filled(words[0].summary, {"question": session.question, "draft_id": draft_id}) or ""
