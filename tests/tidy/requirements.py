"""What `scripts/check requirements` does: read the tests, without running them, for the requirements they prove."""

import argparse
import ast
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tests.tidy.source import FunctionNode, Source, load

ROOT = Path(__file__).resolve().parents[2]
TITLES = Path("tests/requirement_ids.txt")
PROVED = Path("tests/requirements_proved.txt")
PROVED_HEAD = (
    "# Requirements that a test proves. The list only grows: scripts/check requirements --accept adds to it.\n"
)
NOT_RUN = {"skip", "xfail"}


@dataclass(frozen=True)
class Mark:
    """One `@pytest.mark.requirement` on one test; `idle` says why the test proves nothing, where it does not."""

    ids: tuple[str, ...]
    place: str
    idle: str = ""


def marks(source: Source) -> Iterator[Mark]:
    """Every mark in a test file: on functions, on classes and as `pytestmark`, whose ids each test below inherits."""
    module = _pytestmark(source.tree)
    if any(map(_is_skip_call, source.tree.body)):
        module = [*module, ast.parse("pytest.mark.skip", mode="eval").body]
    yield from _marks_below(source.tree, inherited=module, source=source)


def faults(found: Collection[Mark], *, known: Collection[str], proved: Collection[str]) -> list[str]:
    """What is wrong: unknown ids, marks that prove nothing by mistake, ids that are proved no more."""
    wrong = [f"{mark.place}: {name!r} is no id of {TITLES}" for mark in found for name in mark.ids if name not in known]
    wrong += [
        f"{mark.place}: a requirement mark needs at least one id, as literal text" for mark in found if not mark.ids
    ]
    now = proved_by(found)
    idle = {name: f" ({mark.place} {mark.idle})" for mark in found if mark.idle for name in mark.ids}
    wrong += [f"{name} is proved no more{idle.get(name, '')}" for name in proved if name not in now]
    return wrong


def proved_by(found: Collection[Mark]) -> set[str]:
    """The ids that a test proves which is collected and neither skipped nor expected to fail."""
    return set(chain.from_iterable(mark.ids for mark in found if not mark.idle))


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Print what no test proves; 1 where something is wrong, 0 otherwise."""
    parser = argparse.ArgumentParser(prog="scripts/check requirements", description=__doc__)
    parser.add_argument("--accept", action="store_true", help=f"add what is newly proved to {PROVED}")
    accept = parser.parse_args(arguments).accept
    titles = _titles(root / TITLES)
    proved = _listed(root / PROVED)
    found = [mark for source in load(root, ("tests",)) if _is_test_file(source) for mark in marks(source)]
    wrong = faults(found, known=titles, proved=proved)
    now = proved_by(found) & titles.keys()
    if accept:
        _write(root / PROVED, [name for name in titles if name in {*now, *proved}])
    sys.stdout.write(_report(titles, now=now, proved=proved, accepted=accept, wrong=wrong))
    return 1 if wrong else 0


def _marks_below(parent: ast.Module | ast.ClassDef, *, inherited: list[ast.expr], source: Source) -> Iterator[Mark]:
    for node in parent.body:
        if isinstance(node, FunctionNode):
            yield from _marks_of(node, inherited=inherited, source=source)
        elif isinstance(node, ast.ClassDef):
            below = [*inherited, *node.decorator_list, *_pytestmark(node)]
            yield from _marks_below(node, inherited=below, source=source)


def _marks_of(node: FunctionNode, *, inherited: list[ast.expr], source: Source) -> Iterator[Mark]:
    is_test = node.name.startswith("test_")
    applied = [*(inherited if is_test else []), *node.decorator_list]
    place = f"{source.path}::{node.name}"
    idle = _idle(node, applied=applied) if is_test else "is no test"
    for mark in applied:
        if _mark_name(mark) == "requirement":
            yield Mark(_literals(mark), place, idle)
        else:
            yield from (Mark(_literals(inner), place, idle) for inner in _in_parameters(mark))


def _idle(node: FunctionNode, *, applied: list[ast.expr]) -> str:
    switched_off = {_mark_name(mark) for mark in applied} & NOT_RUN
    if switched_off:
        return f"is marked {switched_off.pop()}"
    if any(map(_is_skip_call, node.body)):
        return "skips itself"
    return ""


def _in_parameters(mark: ast.expr) -> Iterator[ast.expr]:
    """Requirement marks of single `pytest.param`s; a parameter that is skipped or fails proves nothing."""
    for call in ast.walk(mark):
        if isinstance(call, ast.Call) and _name(call.func) == "param":
            inner = [node for word in call.keywords if word.arg == "marks" for node in _elements(word.value)]
            if not {_mark_name(node) for node in inner} & NOT_RUN:
                yield from (node for node in inner if _mark_name(node) == "requirement")


def _pytestmark(parent: ast.Module | ast.ClassDef) -> list[ast.expr]:
    assigned = (node for node in parent.body if isinstance(node, ast.Assign))
    values = (node.value for node in assigned if any(_name(target) == "pytestmark" for target in node.targets))
    return list(chain.from_iterable(map(_elements, values)))


def _elements(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.List | ast.Tuple) else [node]


def _mark_name(node: ast.expr) -> str:
    """`skip` for `pytest.mark.skip(...)` and for `pytest.mark.skip`."""
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute) and _name(called.value) == "mark":
        return called.attr
    return ""


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_skip_call(node: ast.stmt) -> bool:
    """Whether a statement of the outermost level ends the test unconditionally: `pytest.skip(...)`."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and _name(call.func) in NOT_RUN


def _literals(mark: ast.expr) -> tuple[str, ...]:
    """The ids of a mark, or none where one of them is not literal text."""
    values = mark.args if isinstance(mark, ast.Call) else []
    ids = tuple(node.value for node in values if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return ids if len(ids) == len(values) else ()


def _is_test_file(source: Source) -> bool:
    return source.path.rpartition("/")[2].startswith("test_")


def _titles(path: Path) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in _lines(path))


def _listed(path: Path) -> list[str]:
    return list(_lines(path)) if path.exists() else []


def _lines(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return (line for line in lines if line and not line.startswith("#"))


def _write(path: Path, names: list[str]) -> None:
    path.write_text(PROVED_HEAD + "".join(f"{name}\n" for name in names), encoding="utf-8")


def _report(titles: dict[str, str], *, now: set[str], proved: list[str], accepted: bool, wrong: list[str]) -> str:
    open_ids = [f"  {name:<9} {title}" for name, title in titles.items() if name not in now]
    fresh = [name for name in titles if name in now and name not in proved]
    lines = [f"No test proves {len(open_ids)} of {len(titles)} requirements:", *open_ids] if open_ids else []
    lines.append(f"{len(now)} of {len(titles)} requirements are proved by a test.")
    if fresh:
        verb = "Added to" if accepted else "Newly proved; --accept adds to"
        lines.append(f"{verb} {PROVED}: {' '.join(fresh)}")
    lines += [f"FAULT {fault}" for fault in wrong]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
