"""Puts into the documents what is drawn from the code, and finds what is drawn otherwise by now."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = re.compile(r"(?s)<!-- drawn by (?P<name>[\w.]+) -->\n(?P<body>.*?)<!-- end -->")
MERMAID = "stateDiagram-v2"


def drawn(text: str) -> str:
    """The document with every drawing as the code draws it today."""
    return PLACE.sub(_drawn, text)


def stale_drawings(document: Path, *, root: Path) -> Iterator[str]:
    """A document whose drawings are others than the code's."""
    text = document.read_text(encoding="utf-8")
    if drawn(text) != text:
        yield f"{document.relative_to(root)}: its drawings are out of date; `scripts/docs draw` draws them anew"


def draw(root: Path) -> int:
    """Draw all of them anew; how many documents changed."""
    changed = 0
    for document in sorted((root / "docs").glob("*.md")):
        text = document.read_text(encoding="utf-8")
        if (new := drawn(text)) != text:
            document.write_text(new, encoding="utf-8")
            changed += 1
    return changed


def _drawn(place: re.Match[str]) -> str:
    module, _, name = place["name"].rpartition(".")
    body: str = getattr(import_module(module), name)()
    if body.startswith(MERMAID):
        body = f"```mermaid\n{body}\n```"
    return f"<!-- drawn by {place['name']} -->\n{body}\n<!-- end -->"


if __name__ == "__main__":
    sys.stdout.write(f"{draw(ROOT)} documents drawn anew.\n")
