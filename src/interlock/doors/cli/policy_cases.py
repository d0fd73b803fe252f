"""Cases for policies, as YAML files beside them: who asks for which tool, and what the answer must be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from interlock.core.call import Principal, PrincipalKind, ToolCall
from interlock.core.decision import Deny
from interlock.core.policy import Answer
from interlock.doors.cli.faults import CasesInvalid

if TYPE_CHECKING:
    from interlock.doors.cli.project import Project
    from interlock.doors.cli.session import Session

FOLDER = "tests"
_FIELDS = ("name", "principal", "tool", "arguments", "run", "task", "expect")
_PERSON = ("id", "groups", "kind")


@dataclass(frozen=True, slots=True)
class Case:
    """One expectation. `principal` asks for `tool` with `arguments` (JSON); policy must say `expect`."""

    name: str
    principal: Principal
    tool: str
    arguments: str
    expect: Answer
    run: str | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What policy really says, and why."""

    answer: Answer
    reason: str


def read_cases(project: Project) -> tuple[Case, ...]:
    """Every case of the project, file by file. Raises `CasesInvalid` naming the file and the case."""
    folder = project.policies / FOLDER
    files = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    cases = tuple(case for file in files for case in _cases_of(file, project))
    if not cases:
        raise CasesInvalid(f"there is no case in {folder}; write a list of principal, tool, arguments and expect")
    return cases


async def outcome_of(case: Case, session: Session) -> CaseOutcome:
    """Ask policy. A call that cannot even be proposed is denied."""
    call = ToolCall("case", case.tool, case.arguments)
    caller = session.caller_as(case.principal, run=case.run, task=case.task)
    found = await session.gate.policies.explain(call, caller)
    if isinstance(found, Deny):
        return CaseOutcome(Answer.DENY, f"{found.code.value}: {found.message}")
    return CaseOutcome(found.verdict.answer, found.verdict.reason)


def _cases_of(file: Path, project: Project) -> Iterator[Case]:
    try:
        said = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as fault:
        raise CasesInvalid(f"{file.name} cannot be read: {fault}") from fault
    if not isinstance(said, list):
        raise CasesInvalid(f"{file.name}: write a list of cases, each with a dash in front")
    for number, each in enumerate(said, 1):
        yield _case(each, project, where=f"{file.name}, case {number}")


def _case(said: object, project: Project, *, where: str) -> Case:
    if not isinstance(said, dict):
        raise CasesInvalid(f"{where}: a case has {', '.join(_FIELDS)}")
    _refuse_unknown(said, _FIELDS, where=where)
    for name in ("tool", "expect"):
        if not isinstance(said.get(name), str):
            raise CasesInvalid(f"{where}: it needs {name}, as text")
    arguments = json.dumps(said.get("arguments") or {}, default=str)
    return Case(
        name=str(said.get("name") or where),
        principal=_principal(said.get("principal"), project, where=where),
        tool=str(said["tool"]),
        arguments=arguments,
        expect=_expected(said["expect"], where),
        run=_text_or_none(said.get("run")),
        task=_text_or_none(said.get("task")),
    )


def _expected(word: object, where: str) -> Answer:
    try:
        return Answer(str(word))
    except ValueError:
        raise CasesInvalid(f"{where}: expect is allow, ask or deny") from None


def _principal(said: object, project: Project, *, where: str) -> Principal:
    """One of the project by id, or somebody whom the case makes up."""
    if said is None or isinstance(said, str):
        return project.person(said)
    if not isinstance(said, dict):
        raise CasesInvalid(f"{where}: principal is an id, or {', '.join(_PERSON)}")
    _refuse_unknown(said, _PERSON, where=where)
    try:
        kind = PrincipalKind(str(said.get("kind", "human")))
    except ValueError:
        raise CasesInvalid(f"{where}: kind is {', '.join(each.value for each in PrincipalKind)}") from None
    groups = frozenset(map(str, said.get("groups") or ()))
    return Principal(project.operator.tenant, str(said.get("id", "somebody")), kind, groups)


def _refuse_unknown(said: Mapping[object, object], known: tuple[str, ...], *, where: str) -> None:
    for name in said:
        if name not in known:
            close = get_close_matches(str(name), known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"it knows {', '.join(known)}"
            raise CasesInvalid(f"{where} has no field {name!r}; {hint}")


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)
