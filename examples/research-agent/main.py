"""Runs the research agent: a model proposes to search and to save a draft, the gate decides, a second person approves.

Run it again at any time, after Ctrl-C or kill -9 too: it finds in its store where it was, and saves nothing twice.
Exit codes: 0 a draft is on disk and the audit log verifies, 1 it came to nothing, 2 wrong usage, 4 it waits for an
approval, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from chat_model import open_model
from documents import Library, open_library
from ending import ending, reconciled
from hurdles import hurdle
from model_server import ModelUnavailable
from on_record import latest_search
from prompts import DEFAULT_QUESTION, SAVE_NAME
from research import Conversation, Gave
from research_tools import research_tools
from review import Reviewer, resume, review
from screen import Screen
from session import Session, task_of
from what_if import what_if

from interlock import ApprovalState, Gate, InterlockError, Observation, Status

HERE: Final = Path(__file__).resolve().parent
PROJECT: Final = HERE.parents[1]
PROJECT_DOCS: Final = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs")
DONE, FAILED, WAITS, INTERRUPTED = 0, 1, 4, 130
EARLIER: Final = {
    ApprovalState.PENDING: "which waits for approval",
    ApprovalState.GRANTED: "which was approved: now it runs",
    ApprovalState.USED: "which was approved and started: what came of it counts",
    ApprovalState.DENIED: "which the reviewer declined",
}
"""What an earlier start's proposal to save has come to, where there is something to go on with."""


class Unanswerable(Exception):
    """What stands in the way of asking a model at all. The message is for the user."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line said."""

    question: str
    docs: Path | None
    home: Path
    plain: bool
    reviewer: Reviewer


def main(arguments: Sequence[str]) -> int:
    """One start of the program; its exit code."""
    options = read_options(arguments)
    screen = Screen(plain=options.plain)
    try:
        return asyncio.run(demonstrate(options, screen))
    except KeyboardInterrupt:
        screen.say("STOPPED", screen.durable, why="Run the same command again: it continues from there.")
        return INTERRUPTED
    except BrokenPipeError:
        # Who read the output has had enough; Python would complain of it once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Unanswerable as hurdled:
        screen.say("FAILED", str(hurdled))
    except OSError as fault:
        screen.say("FAILED", f"{fault.filename or options.home}: {fault.strerror or fault}")
    except InterlockError as fault:
        screen.say("FAILED", str(fault), why=f"To start anew, give another --home, or move {options.home} away.")
    return FAILED


def read_options(arguments: Sequence[str]) -> Options:
    """Read the command line. Exits with 2 for one that makes no sense."""
    says = "A model proposes, the gate decides, a second person approves, and it runs once."
    parser = argparse.ArgumentParser(prog="scripts/demo", description=says)
    parser.add_argument("--question", default=DEFAULT_QUESTION, help="what to research (default: %(default)s)")
    parser.add_argument("--docs", type=Path, help="a folder of Markdown files (default: this project's own documents)")
    parser.add_argument("--home", type=Path, default=Path(".interlock-demo"), help="store, key, drafts (%(default)s)")
    parser.add_argument("--plain", action="store_true", help="plain lines, also on a terminal")
    decides = parser.add_mutually_exclusive_group()
    decides.add_argument("--yes", action="store_true", help="unattended: a stand-in approves, and the output says so")
    decides.add_argument("--approve", action="store_true", help="approve what waits, as bob, and go on")
    read = parser.parse_args(arguments)
    if not read.question.strip():
        parser.error("--question is empty")
    if read.docs is not None and not read.docs.is_dir():
        parser.error(f"--docs: there is no folder {read.docs}")
    return Options(" ".join(read.question.split()), read.docs, read.home, read.plain, _reviewer(read))


async def demonstrate(options: Options, screen: Screen) -> int:
    """Open the documents and the gate, do the task, and show what it came to."""
    home = options.home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    docs = (options.docs or PROJECT).resolve()
    started_us = time.time_ns() // 1_000
    store = home / "interlock.db"
    with open_library(docs, only=() if options.docs else PROJECT_DOCS) as library:
        tools = research_tools(library, drafts=home / "drafts")
        async with Gate.open(store, tools=tools, policies=HERE / "policies") as gate:
            session = Session(gate, screen, task_of(options.question, docs=docs), options.question, home)
            _introduce(session, library, docs=docs)
            await _tell_reconciled(session, since_us=started_us)
            code = await _do(session, options, library)
            if not await ending(session, home=home, fingerprint=gate.audit.fingerprint()):
                return FAILED
            if code == 0:
                anew = f"give another --home or --question, or move {options.home} away"
                screen.say(
                    "ANEW", f"This task is done: the next start replays it, and asks nothing. To begin anew, {anew}."
                )
            return code


async def _do(session: Session, options: Options, library: Library) -> int:
    """The task from wherever it stands, to a saved draft if all goes well; the exit code so far."""
    try:
        saved = await _continued(session, options) or await _proposed(session, options, library)
    except Gave as end:
        why = "Ask in other words with --question, or set OPENAI_API_KEY to use a larger model."
        session.screen.say("FAILED", str(end), why=why)
        return FAILED
    except ModelUnavailable as missing:
        session.screen.say("FAILED", str(missing), why=_model_advice())
        return FAILED
    if isinstance(saved, int):
        return saved
    if saved.status is not Status.OK or not _on_disk(session, saved):
        return FAILED
    await what_if(session, saved)
    return DONE


async def _continued(session: Session, options: Options) -> Observation | int | None:
    """Go on with what an earlier start asked for; None where there is nothing to go on with."""
    approval = await session.latest_approval()
    if approval is None or approval.state not in EARLIER:
        return None
    why = "The stored operation is used as it is; no model is asked."
    session.screen.say("CONTINUES", f"an earlier start proposed a draft, {EARLIER[approval.state]}", why=why)
    if not await review(session, approval, reviewer=options.reviewer):
        return WAITS
    seen = await resume(session, approval)
    if seen is None:
        return FAILED
    return None if seen.status in (Status.REFUSED, Status.FAILED) else seen


async def _proposed(session: Session, options: Options, library: Library) -> Observation | int:
    """Have the model propose, the reviewer decide, and the stored operation run."""
    hosted = bool(os.environ.get("OPENAI_API_KEY"))
    stands_in_the_way = hurdle(session.question, passages=library.passages, hosted=hosted)
    if stands_in_the_way:
        raise Unanswerable(stands_in_the_way)
    earlier = await latest_search(session.gate, task=session.task)
    with open_model() as model:
        key = "its key comes from the environment" if hosted else "no key"
        session.screen.say("MODEL", f"{model.options.model} on {model.place} ({key})")
        seen = await Conversation(session, model).research(earlier)
    approval = await session.latest_approval()
    if seen.status is not Status.WAITING or approval is None:
        return seen
    if not await review(session, approval, reviewer=options.reviewer):
        return WAITS
    return await resume(session, approval) or FAILED


def _on_disk(session: Session, saved: Observation) -> bool:
    """Say where the draft lies, if it lies there."""
    data = saved.data if isinstance(saved.data, dict) else {}
    path = Path(str(data.get("file")))
    if path.is_file():
        session.screen.say("SAVED", str(path), why=f"sha256 {data.get('sha256')}, {data.get('size_bytes')} bytes")
        return True
    session.screen.say("FAILED", f"the draft was saved but is gone: {path}")
    return False


def _introduce(session: Session, library: Library, *, docs: Path) -> None:
    session.screen.heading("Interlock: the model proposes, the gate decides, and it runs once")
    files = len({passage.file for passage in library.passages})
    session.screen.say("QUESTION", session.question, why=f"task {session.task}")
    session.screen.say("DOCUMENTS", f"{docs}: {len(library.passages)} passages in {files} files")
    for skipped in library.skipped[:5]:
        session.screen.below(f"not read: {skipped.file}: {skipped.reason}")


async def _tell_reconciled(session: Session, *, since_us: int) -> None:
    for record in await reconciled(session.gate, since_us=since_us):
        if record.get("tool") != SAVE_NAME:
            continue
        done = record.get("status") == "ok"
        became = "the draft is on disk, so it is recorded as saved" if done else "no draft is on disk: nothing happened"
        why = "The start before this one died while saving. Nothing was run again to find out."
        session.screen.say("RECONCILED", f"{SAVE_NAME}: {became}", why=why)


def _reviewer(read: argparse.Namespace) -> Reviewer:
    if read.yes:
        return Reviewer.STAND_IN
    if read.approve:
        return Reviewer.BOB
    return Reviewer.PROMPT if sys.stdin.isatty() and sys.stdout.isatty() else Reviewer.NOBODY


def _model_advice() -> str:
    if os.environ.get("OPENAI_API_KEY"):
        return "Check OPENAI_API_KEY, OPENAI_BASE_URL and INTERLOCK_MODEL, or unset them to use the small model."
    return "Nothing was done in its place. Run it again; `scripts/setup` installs the small model where it is missing."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
