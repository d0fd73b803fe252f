"""Declares tools in any provider's dialect, and says what the dialect could not say.

The original schema is the contract, and the gate judges every call under it. What a provider is sent is a projection:
strict where the schema fits, else as near as the dialect comes, with each loss named by a JSON pointer into the
original. A tool that cannot be said is set aside with a reason; the others go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from interlock.core.canonical import Json
from interlock.models.dialects_back import Form, without_marks
from interlock.models.dialects_compile import Compiler, Loss
from interlock.models.dialects_parts import Inexpressible, NotStrict
from interlock.models.dialects_rules import RULES, Dialect, Rules
from interlock.models.dialects_size import Size, size_of
from interlock.models.names import WireNames, spell

__all__ = ["Declarations", "Dialect", "Loss", "Projection", "Unfit", "declare", "project"]


@dataclass(frozen=True, slots=True)
class Projection:
    """One schema in a dialect. `losses` are empty where the dialect says all of it and the provider holds to it."""

    schema: Mapping[str, Json]
    strict: bool
    losses: tuple[Loss, ...]
    form: Form
    size: Size

    def back(self, arguments: Json) -> Json:
        """Arguments that the model sent, in the form of the original schema; the gate then judges them."""
        return self.form.back(arguments)

    def there(self, arguments: Json) -> Json:
        """Arguments of the original in the form that the model was asked for."""
        return self.form.there(arguments)


@dataclass(frozen=True, slots=True)
class Unfit:
    """A schema that a dialect cannot say, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Declarations:
    """The tools of one session for one provider: what is sent, under which names, with what losses."""

    tools: tuple[Mapping[str, object], ...]
    names: WireNames
    projections: Mapping[str, Projection]
    set_aside: Mapping[str, str]
    """The tools that are not declared, by their own names, with the reason."""


def declare(
    specs: Iterable[tuple[str, str, Mapping[str, Json]]], *, dialect: Dialect, reserved: Collection[str] = ()
) -> Declarations:
    """The declarations for (name, description, input schema) triples, in their order.

    `reserved` are names that the request holds otherwise. Raises ValueError for a name that comes twice.
    """
    listed = list(specs)
    rules = RULES[dialect]
    names = spell([name for name, _, _ in listed], rules=rules.names, reserved=reserved)
    if len(names.to_wire) != len(listed):
        raise ValueError("A tool is declared twice.")
    budget = _StrictBudget(rules)
    projections: dict[str, Projection] = {}
    set_aside: dict[str, str] = {}
    for name, _, schema in listed:
        found = project(schema, dialect=dialect)
        if isinstance(found, Unfit):
            set_aside[name] = found.reason
        elif len(projections) >= rules.tools_max:
            set_aside[name] = f"The provider takes at most {rules.tools_max} tools."
        else:
            projections[name] = _within(found, schema=schema, dialect=dialect, budget=budget)
    tools = tuple(
        _tool(names.to_wire[name], description=description, projection=projections[name], dialect=dialect)
        for name, description, _ in listed
        if name in projections
    )
    return Declarations(tools, names, MappingProxyType(projections), MappingProxyType(set_aside))


def project(schema: Mapping[str, Json], *, dialect: Dialect) -> Projection | Unfit:
    """One schema in a dialect. A strict dialect that it does not fit gives way to the relaxed one, which is a loss."""
    rules = RULES[dialect]
    source: object = schema
    if not isinstance(source, Mapping):
        return Unfit("The input schema is no object.")
    try:
        return _compiled(dict(source), rules=rules)
    except NotStrict as fault:
        return _relaxed(schema, rules=rules, reason=str(fault))
    except Inexpressible as fault:
        return Unfit(str(fault))
    except RecursionError:
        return Unfit("The schema is nested too deep.")


class _StrictBudget:
    """How much strictness a provider takes over all tools of one request."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._tools = self._optional = self._unions = 0

    def takes(self, size: Size) -> bool:
        """Whether one more tool fits, which is then counted."""
        rules = self._rules
        tools, optional, unions = self._tools + 1, self._optional + size.optional, self._unions + size.unions
        limits = (rules.strict_tools_max, rules.optional_max, rules.unions_max)
        fits = all(most is None or used <= most for used, most in zip((tools, optional, unions), limits, strict=True))
        if fits:
            self._tools, self._optional, self._unions = tools, optional, unions
        return fits


def _within(
    projection: Projection, *, schema: Mapping[str, Json], dialect: Dialect, budget: _StrictBudget
) -> Projection:
    if not projection.strict or budget.takes(projection.size):
        return projection
    relaxed = _relaxed(schema, rules=RULES[dialect], reason="The request holds as many strict tools as it may.")
    return relaxed if isinstance(relaxed, Projection) else projection


def _relaxed(schema: Mapping[str, Json], *, rules: Rules, reason: str) -> Projection | Unfit:
    if rules.relaxed is None:
        return Unfit(reason)
    found = project(schema, dialect=rules.relaxed)
    if isinstance(found, Unfit):
        return found
    return replace(found, losses=(Loss("", f"not strict: {reason}"), *found.losses))


def _compiled(schema: dict[str, Json], *, rules: Rules) -> Projection:
    compiler = Compiler(schema, rules=rules)
    sent, marks = without_marks(compiler.whole(schema))
    size = size_of(sent)
    excess = _excess(size, rules=rules)
    if excess and rules.relaxed:
        raise NotStrict(excess)
    if excess:
        raise Inexpressible(excess)
    return Projection(sent, rules.closed, tuple(compiler.losses), Form(sent, marks), size)


def _excess(size: Size, *, rules: Rules) -> str:
    """Which of a provider's limits a schema is over; empty for none."""
    limits = (
        ("members", size.members, rules.properties_max),
        ("levels", size.levels, rules.levels_max),
        ("listed values", size.values, rules.enum_values_max),
        ("characters of names and values", size.characters, rules.characters_max),
    )
    return next(
        (f"The schema has {used} {what}; {most} is the limit." for what, used, most in limits if used > most), ""
    )


def _tool(name: str, *, description: str, projection: Projection, dialect: Dialect) -> dict[str, object]:
    schema = dict(projection.schema)
    strict: dict[str, object] = {"strict": True} if projection.strict else {}
    match dialect:
        case Dialect.OPENAI_CHAT | Dialect.OPENAI_CHAT_STRICT:
            function: dict[str, object] = {"name": name, "description": description, "parameters": schema}
            return {"type": "function", "function": function | strict}
        case Dialect.OPENAI_RESPONSES | Dialect.OPENAI_RESPONSES_STRICT:
            sent = {"type": "function", "name": name, "description": description, "parameters": schema}
            return sent | {"strict": projection.strict}
        case Dialect.ANTHROPIC | Dialect.ANTHROPIC_STRICT:
            return {"name": name, "description": description, "input_schema": schema} | strict
        case Dialect.BEDROCK:
            return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}
        case Dialect.GEMINI | Dialect.GEMINI_OPENAPI:
            return {"name": name, "description": description, _GEMINI_FIELDS[dialect]: schema}


_GEMINI_FIELDS: Final = {Dialect.GEMINI: "parametersJsonSchema", Dialect.GEMINI_OPENAPI: "parameters"}
