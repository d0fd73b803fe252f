"""What `scripts/docs` does: hold the documents to files that run, to types, and to links that lead somewhere."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from tests.tidy.drawings import stale_drawings

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = "docs_src"
EXAMPLE_SECONDS_MAX = 60
SKIPPED_FOLDERS = {".git", ".venv", "node_modules", "build", "dist", ".pytest_cache"}
FENCE = re.compile(r"(?ms)^(?P<ticks>`{3,}|~{3,})(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=ticks)[ \t]*$")
MARKED = re.compile(r"<!-- (?P<path>\S+) -->\s*$")
INLINE_CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(\s*<?(?P<target>[^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"(?m)^\[[^\]]+\]:\s*<?(?P<target>\S+?)>?\s*$")
ELSEWHERE = re.compile(r"(?i)[a-z][a-z0-9+.-]*:|//")
HEADING = re.compile(r"(?m)^#{1,6}\s+(?P<title>.+?)\s*#*$")


def documents(root: Path) -> list[Path]:
    """Every Markdown file of the repository, in a fixed order."""
    found = (path for path in root.rglob("*.md") if not SKIPPED_FOLDERS & set(path.relative_to(root).parts))
    return sorted(found)


def broken_links(document: Path, *, root: Path) -> Iterator[str]:
    """Relative links to no file of the repository, and anchors to no heading."""
    text = INLINE_CODE.sub("", FENCE.sub("", document.read_text(encoding="utf-8")))
    for match in chain(LINK.finditer(text), REFERENCE.finditer(text)):
        link = match["target"]
        if not ELSEWHERE.match(link) and not _leads_somewhere(link, document=document, root=root):
            yield f"{document.relative_to(root)}: link to {link} leads nowhere"


def unproved_examples(document: Path, *, root: Path) -> Iterator[str]:
    """Python blocks that are not, letter for letter, part of the file that the comment above them names."""
    text = document.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        if match["language"] not in {"python", "py"}:
            continue
        place = f"{document.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}"
        marked = MARKED.search(text, 0, match.start())
        source = root / marked["path"] if marked else None
        if source is None:
            yield f"{place}: put <!-- {EXAMPLES}/NAME.py --> above the block: examples are files that run"
        elif not source.is_file() or match["body"].strip() not in source.read_text(encoding="utf-8"):
            yield f"{place}: the block is not part of {source.relative_to(root)}"


def failing_examples(root: Path) -> Iterator[str]:
    """Examples that end badly when they are run, each in an empty folder of its own."""
    for example in sorted((root / EXAMPLES).rglob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            yield from (f"{example.relative_to(root)}: {fault}" for fault in _run(example, folder=folder))


def untyped_examples(root: Path) -> Iterator[str]:
    """What mypy finds in the examples."""
    if any((root / EXAMPLES).rglob("*.py")):
        command = [sys.executable, "-m", "mypy", "--no-error-summary", EXAMPLES]
        yield from subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout.splitlines()


def main(root: Path = ROOT) -> int:
    """Print every fault; 1 where there is one, 0 otherwise."""
    found = [fault for document in documents(root) for fault in broken_links(document, root=root)]
    shown = [document for document in documents(root) if _is_shown(document, root)]
    found += [fault for document in shown for fault in unproved_examples(document, root=root)]
    found += [fault for document in shown for fault in stale_drawings(document, root=root)]
    found += [*failing_examples(root), *untyped_examples(root)]
    sys.stdout.write("".join(f"FAULT {fault}\n" for fault in found))
    examples = len(list((root / EXAMPLES).rglob("*.py")))
    sys.stdout.write(f"{len(documents(root))} documents and {examples} examples: {len(found)} faults.\n")
    return 1 if found else 0


def _leads_somewhere(link: str, *, document: Path, root: Path) -> bool:
    path, _, anchor = unquote(link).partition("#")
    target = (root / path.lstrip("/") if path.startswith("/") else document.parent / path) if path else document
    if not target.exists() or not target.resolve().is_relative_to(root.resolve()):
        return False
    return not anchor or target.suffix != ".md" or anchor.lower() in _anchors(target)


def _anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, spelled as code hosts spell them."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    titles = (match["title"].replace("`", "").lower() for match in HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def _run(example: Path, *, folder: str) -> Iterator[str]:
    command = [sys.executable, "-W", "error", str(example)]
    settings = {**os.environ, "HOME": folder}
    try:
        done = subprocess.run(
            command, cwd=folder, env=settings, capture_output=True, text=True, timeout=EXAMPLE_SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        yield f"ran longer than {EXAMPLE_SECONDS_MAX} s"
        return
    if done.returncode:
        yield f"ended with {done.returncode}\n{done.stderr.strip()[-2000:]}"


def _is_shown(document: Path, root: Path) -> bool:
    """Whether a reader takes a document's Python for an example of how Interlock is used."""
    below = document.relative_to(root).parts
    return below[0].startswith("README") or below[0] == "docs"


if __name__ == "__main__":
    sys.exit(main())
