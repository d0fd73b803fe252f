"""`interlock init`: writes a small project that works, to begin with and to learn from; it never overwrites a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from interlock.doors.cli.answer import PROBLEM, Answer, note
from interlock.doors.cli.faults import problem
from interlock.doors.cli.shown import visible
from interlock.doors.cli.verb import verb

app = typer.Typer()

_SETTINGS = """\
# The settings of this project for `interlock`. `interlock doctor` looks whether they are in order.

[interlock]
store = "interlock.db"        # calls, approvals and the audit log; its key lies beside it, in interlock.db.key
tools = ["tools.py"]          # files (or modules such as "package.module") that declare tools
policies = "policies"         # the folder of .cedar files; cases to test them are in policies/tests
examples = "examples"         # the folder of examples of the tools; `interlock tools test` runs them
environment = "development"   # what policies see as context.environment

# Who the command line acts as. Who really sat at it, the account of the operating system, is on record as well.
[operator]
id = {operator}
tenant = "default"
groups = ["operator", "auditor", "notes"]

# Others whom it may act as, with --as: who asks for something, or edits it, may not approve it.
[[people]]
id = "second"
groups = ["approver"]

[[people]]
id = "third"
groups = ["approver"]

# At most so much: of calls, tokens, cost_micros and more, for a run, principal, tool, tenant and more.
[[limits]]
scope = "tenant"
unit = "calls"
amount = 1000
window_s = 3600
"""

_TOOLS = '''\
"""Tools: one that reads and one that writes. The docstring and the types are what a model is told.

A version that is in use never changes: after a change to a tool, its docstring included, say @tool(version="2", ...).
"""

from pathlib import Path
from typing import Annotated

from interlock import Arg, ErrorContract, ToolFault, tool

NOTES = Path(__file__).parent / "notes"

Title = Annotated[str, Arg(pattern="^[a-z0-9]{1,40}$", max_length=40, description="Small letters and digits.")]
Text = Annotated[str, Arg(max_length=10_000, description="What the note says.")]

# An error that a tool declares says what has happened; any other, from an effect, leaves that unknown.
TAKEN = ErrorContract("TITLE_TAKEN", nothing_happened=True, description="Another note has this title.")


@tool(effect="read", owner="notes", resource=("Note", "title"))
def read_note(title: Title) -> str | None:
    """Read one note by its title; null where there is none."""
    path = NOTES / f"{title}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else None


def find_note(title: str, text: str) -> str | None:
    """Whether the note was saved: asked when the outcome of a call was lost, so that it is never written twice."""
    return title if read_note(title) == text else None


@tool(
    effect="write",
    owner="notes",
    key=["title"],
    resource=("Note", "title"),
    reconcile=find_note,
    errors=[TAKEN],
    summary="Save the note {title}",
)
def save_note(title: Title, text: Text) -> str:
    """Save one note under its title, which no other note may have yet."""
    NOTES.mkdir(exist_ok=True)
    try:
        file = (NOTES / f"{title}.txt").open("x", encoding="utf-8")
    except FileExistsError:
        raise ToolFault(TAKEN.code, f"There is already a note {title}.") from None
    with file:
        file.write(text)
    return title
'''

_CASES = """\
# What the policies must say. `interlock policy test` runs this; so should your tests.
- name: members of the group that owns the notes may read them
  principal: {id: alice, groups: [notes]}
  tool: read_note
  arguments: {title: hello}
  expect: allow

- name: what they write, somebody else approves
  principal: {id: alice, groups: [notes]}
  tool: save_note
  arguments: {title: hello, text: Good morning.}
  task: greeting
  expect: ask

- name: strangers may do nothing
  principal: {id: mallory, groups: []}
  tool: read_note
  arguments: {title: hello}
  expect: deny
"""

_IGNORED = """\
# The store with its log, the key that signs it, and what the tools write.
interlock.db*
notes/
__pycache__/
"""

_NEXT = """\
Next: interlock call save_note '{"title": "hello", "text": "Good morning."}' --task greeting
      interlock approvals list, then interlock approvals approve ID --as second --run
      interlock audit query, and change tools.py and policies/starter.cedar to what you need"""


@verb(app, "init")
async def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to.")] = Path()) -> Answer:
    """Write a project to begin with.

    Settings, two tools with examples, a starter policy and cases to test it. No file is ever overwritten.
    """
    from interlock.core.starter_examples import STARTER_EXAMPLES
    from interlock.core.starter_policy import STARTER_POLICY
    from interlock.doors.cli.session import os_user

    files = {
        "interlock.toml": _SETTINGS.replace("{operator}", json.dumps(os_user())),
        "tools.py": _TOOLS,
        "policies/starter.cedar": STARTER_POLICY,
        "policies/tests/starter.yaml": _CASES,
        "examples/notes.yaml": STARTER_EXAMPLES,
    }
    taken = [name for name in files if (folder / name).exists()]
    if taken:
        return problem(
            "ALREADY_THERE",
            f"There is already {', '.join(taken)}; nothing was written.",
            next_step="Give another folder: `interlock init DIR`.",
            exit_code=PROBLEM,
        )
    has_ignored = (folder / ".gitignore").exists()
    if not has_ignored:
        files[".gitignore"] = _IGNORED
    for name, text in files.items():
        _write(folder / name, text)
    if has_ignored:
        note("There is a .gitignore: let it name interlock.db*, the store and its key.")
    where = f"cd {visible(folder)}\n" if folder != Path() else ""
    return Answer({"folder": str(folder.resolve()), "files": [*files]}, f"Wrote {', '.join(files)}.\n{where}{_NEXT}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
