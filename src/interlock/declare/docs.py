"""From a docstring to a description of the tool and of each parameter: Google, NumPy and plain `Args:` sections."""

from __future__ import annotations

import re
from inspect import cleandoc

from interlock.core.frozen import frozen

_ARGUMENTS = {"args", "arguments", "parameters", "params"}
_OTHERS = {"returns", "return", "raises", "raise", "yields", "yield", "examples", "example", "note", "notes",
           "see also", "references", "warns", "attributes"}  # fmt: skip
_RULE = re.compile(r"^-{3,}\s*$")
_ITEM = re.compile(r"^(?P<name>\*{0,2}[A-Za-z_]\w*)\s*(?:\((?P<type>[^)]*)\))?\s*:\s*(?P<text>.*)$")
_NUMPY_ITEM = re.compile(r"^(?P<name>[A-Za-z_]\w*)\s*(?::.*)?$")
_SPHINX_OTHER = re.compile(r"^:(returns?|rtype|raises?|type|yields?)\b.*:")
_SPHINX = re.compile(r"^:param\s+(?:\S+\s+)?(?P<name>\w+):\s*(?P<text>.*)$")


@frozen
class Docs:
    """What a docstring says."""

    description: str
    parameters: dict[str, str]


def read_docs(text: str | None) -> Docs:
    """The description (all prose before the first section) and the parameters. Never fails: what it cannot read it
    leaves out."""
    lines = cleandoc(text or "").splitlines()
    prose: list[str] = []
    parameters: dict[str, str] = {}
    section, index = "", 0
    while index < len(lines):
        found, skip = _section(lines, index)
        if found:
            section, index = found, index + skip
            continue
        if section in _ARGUMENTS or _SPHINX.match(lines[index]):
            index = _parameter(lines, index, into=parameters)
            continue
        if not section and not _SPHINX_OTHER.match(lines[index]):
            prose.append(lines[index])
        index += 1
    return Docs(_paragraphs(prose), parameters)


def _section(lines: list[str], index: int) -> tuple[str, int]:
    """The section that starts here, in lower case, with the number of lines of its heading."""
    line = lines[index]
    if line.startswith(" "):
        return "", 0
    name = line.rstrip().removesuffix(":").lower()
    if name not in _ARGUMENTS | _OTHERS:
        return "", 0
    if index + 1 < len(lines) and _RULE.match(lines[index + 1]):
        return name, 2
    return (name, 1) if line.rstrip().endswith(":") else ("", 0)


def _parameter(lines: list[str], index: int, *, into: dict[str, str]) -> int:
    """Read one parameter; the index of the line behind it."""
    line = lines[index]
    indent = len(line) - len(line.lstrip())
    found = _SPHINX.match(line) or _ITEM.match(line.strip()) or _NUMPY_ITEM.match(line.strip())
    index += 1
    if found is None:
        return index
    text = [] if found.re is _NUMPY_ITEM or _is_numpy(line, found) else [found["text"]]
    while index < len(lines) and _continues(lines[index], indent):
        text.append(lines[index].strip())
        index += 1
    into[found["name"].lstrip("*")] = " ".join(filter(None, text))
    return index


def _is_numpy(line: str, found: re.Match[str]) -> bool:
    """`name : type` at the margin is NumPy's; its text stands below."""
    return found.re is _ITEM and not line.startswith(" ") and " : " in line


def _continues(line: str, indent: int) -> bool:
    return bool(line.strip()) and len(line) - len(line.lstrip()) > indent


def _paragraphs(lines: list[str]) -> str:
    blocks = re.split(r"\n\s*\n", "\n".join(lines).strip())
    return "\n\n".join(" ".join(block.split()) for block in blocks if block.strip())
