"""Whether an example still says something of a tool: in time, of its version, and of what a model sees of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from interlock.core.canonical import canonical, decode, sha256_hex
from interlock.core.example import ToolExample, domain_of
from interlock.core.model_text import model_text
from interlock.core.tool import ToolSpec, spec_to_json
from interlock.core.tool_compile import compile_tool

_BOUND: Final = re.compile(r"(>=|<=|>|<|==)?\s*(v?[0-9]+(?:\.[0-9]+)*)")


def surface_digest(spec: ToolSpec) -> str:
    """SHA-256 (hex) over what a model sees of a tool, in any language: its words, its schema, what it gives back."""
    localized = {name: spec_to_json(each) for name, each in spec.localized.items()}
    output = None if spec.output_schema is None else spec.output_schema.value
    schema = decode(compile_tool(spec).model_schema)
    return sha256_hex(canonical([spec.name, spec.title, model_text(spec), schema, output, localized]))


def version_fits(wanted: str, version: str) -> bool:
    """Whether a version is the one that is wanted, or in the range: `1`, `1.x`, `>=1.2 <2`; empty: any.

    A range holds for versions made of numbers; any other version is wanted by its own name alone.
    """
    if wanted in ("", "*", version):
        return True
    numbers = _numbers(version)
    if numbers is None:
        return False
    if wanted.endswith((".x", ".*")):
        head = _numbers(wanted[:-2])
        return head is not None and _padded(numbers, len(head))[: len(head)] == head
    bounds = [_BOUND.fullmatch(each) for each in re.sub(r"(>=|<=|>|<|==)\s+", r"\1", wanted).replace(",", " ").split()]
    return bool(bounds) and all(each is not None and _within(numbers, each[1] or "==", each[2]) for each in bounds)


def stale(example: ToolExample, spec: ToolSpec, *, today: date) -> str:
    """Why an example says nothing of this version of its tool, in words; empty where it does."""
    return "; ".join(_reasons(example, spec, today))


def unreviewed(example: ToolExample, spec: ToolSpec) -> str:
    """Why an example of another domain does not count yet, in words; empty where it does."""
    here = domain_of(spec)
    if not example.domain or example.domain == here or (example.reviewed is not None and example.reviewed.by.strip()):
        return ""
    whose = f"the domain {here}" if here else "no domain"
    return f"it comes from the domain {example.domain}, {spec.name} is of {whose}, and nobody has reviewed it"


def _reasons(example: ToolExample, spec: ToolSpec, today: date) -> Iterator[str]:
    if example.expires and date.fromisoformat(example.expires) < today:
        yield f"it expired on {example.expires}"
    if not version_fits(example.version, spec.version):
        yield f"it is of version {example.version}, and {spec.version} is called by default"
    if example.seen and example.seen != surface_digest(spec):
        yield f"the words or the schema of {spec.name} have changed since it was accepted"


def _numbers(version: str) -> tuple[int, ...] | None:
    found = re.fullmatch(r"v?([0-9]+(?:\.[0-9]+)*)", version)
    return None if found is None else tuple(int(each) for each in found[1].split("."))


def _padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    """1.0 is 1: zeros at the end say nothing."""
    return (*numbers, *(0 for _ in range(length - len(numbers))))


def _within(numbers: tuple[int, ...], sign: str, bound: str) -> bool:
    other = _numbers(bound)
    if other is None:
        return False
    length = max(len(numbers), len(other))
    numbers, other = _padded(numbers, length), _padded(other, length)
    holds = {
        ">=": numbers >= other,
        "<=": numbers <= other,
        ">": numbers > other,
        "<": numbers < other,
        "==": numbers == other,
    }
    return holds[sign]
