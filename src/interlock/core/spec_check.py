"""Refuses a spec that contradicts itself, before it is published: every name in it must lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from interlock.core.budget import AMOUNT_MAX
from interlock.core.catalogue import nearest
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.observation import Status
from interlock.core.schema import compile_schema
from interlock.core.spec_advice import Advice, advice
from interlock.core.text import clean
from interlock.core.tool import ParameterSource, ToolSpec
from interlock.core.tool_parts import without

NAME_CHARS_MAX = 128
TIMEOUT_MS_MAX = 86_400_000
INJECTABLE = ("tenant", "tenant_id", "principal", "on_behalf_of", "run", "task")

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"\{([^{}]*)\}")


def check_spec(spec: ToolSpec) -> tuple[Advice, ...]:
    """What to do better with a sound spec. Raises `SpecInvalid` for one that is not, naming all that is wrong."""
    wrong = [*_on_identity(spec), *_on_numbers(spec), *_on_names(spec), *_on_parameters(spec), *_on_words(spec)]
    wrong += [*_on_resource(spec), *_on_cache(spec)]
    wrong += _on_examples(spec) if not wrong else ()
    if wrong:
        raise SpecInvalid(f"{spec.name[:NAME_CHARS_MAX]!r}: {'; '.join(wrong)}")
    return advice(spec)


def _on_identity(spec: ToolSpec) -> Iterator[str]:
    for part, text in (
        ("name", spec.name),
        ("version", spec.version),
        ("source", spec.source),
        ("tenant", spec.tenant),
    ):
        if not 0 < len(text) <= NAME_CHARS_MAX or text != text.strip() or clean(text).removed or not text.isprintable():
            yield f"its {part} must be 1 to {NAME_CHARS_MAX} visible characters"
    if not spec.description.strip():
        yield "it has no description"
    if not re.fullmatch("[0-9a-f]{64}", spec.handler.fingerprint):
        yield "the fingerprint of its handler is no SHA-256"


def _on_numbers(spec: ToolSpec) -> Iterator[str]:
    floor = spec.approval_floor
    rules = {
        f"timeout_ms must be 1 to {TIMEOUT_MS_MAX}": 0 < spec.timeout_ms <= TIMEOUT_MS_MAX,
        "retry.attempts must be 1 to 100": 1 <= spec.retry.attempts <= 100,
        "retry.backoff_ms must be 0 to backoff_max_ms": 0 <= spec.retry.backoff_ms <= spec.retry.backoff_max_ms,
        "output_bytes_max must be positive": spec.output_bytes_max > 0,
        "concurrency must not be negative": spec.concurrency >= 0,
        f"cost.max_micros must be from 0 to {AMOUNT_MAX}": 0 <= spec.cost.max_micros <= AMOUNT_MAX,
        "idempotency.lifetime_s must be positive": spec.idempotency.lifetime_s > 0,
        "approval_floor.quorum must be positive": floor is None or floor.quorum > 0,
        "approval_floor.lifetime_s must be positive": floor is None or floor.lifetime_s > 0,
    }
    yield from (rule for rule, holds in rules.items() if not holds)


def _on_names(spec: ToolSpec) -> Iterator[str]:
    """Key fields, templates and parameters name arguments that the schema has."""
    known = _properties(spec)
    places = {"key": spec.idempotency.fields, "parameters": tuple(each.name for each in spec.parameters)}
    if spec.resource is not None:
        places["resource"] = _placed(spec.resource.id) if "{" in spec.resource.id else (spec.resource.id,)
    places["resource_version"] = (spec.resource_version,) if spec.resource_version else ()
    places["locks"] = tuple(name for lock in spec.locks for name in _placed(lock))
    templates = [spec.summary, *[each.summary for each in spec.localized.values()]]
    places["summary"] = tuple(name for template in templates for name in _placed(template))
    for place, names in places.items():
        for name in names:
            if name not in known:
                yield f"{place} names {name!r}, which the input schema lacks{_hint(name, known)}"


def _on_resource(spec: ToolSpec) -> Iterator[str]:
    rule = spec.resource
    if rule is not None and not _TYPE.fullmatch(rule.type):
        yield f"the resource type {rule.type!r} must be an identifier, such as Draft"
    if rule is not None and "}{" in rule.id:
        yield "the resource id has nothing between two arguments, so it could mean more than one resource"
    if spec.resource_version and (rule is None or not rule.resolved):
        yield "resource_version takes a resource with a resolver that gives its version"


def _on_parameters(spec: ToolSpec) -> Iterator[str]:
    for name, count in Counter(each.name for each in spec.parameters).items():
        if count > 1:
            yield f"the parameter {name} is described twice"
    for each in spec.parameters:
        injected = each.inject or each.name
        if each.source is not ParameterSource.CONTEXT:
            if each.inject:
                yield f"{each.name} is injected, so its source is the context"
        elif injected not in INJECTABLE and not re.fullmatch(r"claims\.\S+", injected):
            yield f"{each.name} injects {injected!r}; it may be {', '.join(INJECTABLE)} or claims.NAME"
    for name in sorted(_properties(spec) & set(spec.secrets)):
        yield f"{name} is a secret and an argument: a model could read it"


def _on_words(spec: ToolSpec) -> Iterator[str]:
    for code, count in Counter(each.code for each in spec.errors).items():
        if count > 1 or not code.strip():
            yield f"the error code {code!r} is empty or declared twice"
    for language in spec.localized:
        if not _LANGUAGE.fullmatch(language):
            yield f"{language!r} is no language tag such as zh-CN"
    for status in spec.promises:
        if status not in {each.value for each in Status}:
            yield f"promises names {status!r}, which is no status{_hint(status, {each.value for each in Status})}"
    if spec.name in (*spec.depends_on, spec.fallback):
        yield "it depends on itself, or falls back on itself"
    if spec.resumes and (spec.effect is Effect.READ or spec.handler.kind != "python"):
        yield "only an effect of a Python function, which is told what is open, can resume"
    if spec.effect is Effect.READ and (spec.compensate or spec.reconcile):
        yield "a read has nothing to compensate or reconcile"
    if spec.compensate_arguments is not None and not spec.compensate:
        yield "compensate_arguments says what a tool is called with that compensate does not name"


def _on_cache(spec: ToolSpec) -> Iterator[str]:
    if spec.cache is None:
        return
    if spec.effect is not Effect.READ:
        yield "only the results of a read can be given again from a cache"
    if spec.cache.lifetime_s <= 0:
        yield "cache.lifetime_s must be positive"
    for kind in spec.cache.reads:
        if not _TYPE.fullmatch(kind):
            yield f"cache.reads names {kind!r}, which is no resource type such as Draft"


def _on_examples(spec: ToolSpec) -> Iterator[str]:
    schema = spec.input_schema.value
    if not isinstance(schema, dict) or not spec.examples:
        return
    injected = frozenset(each.name for each in spec.parameters if each.source is ParameterSource.CONTEXT)
    compiled = compile_schema(without(schema, names=injected))
    for example in spec.examples:
        arguments = example.arguments.value
        found = compiled.violations(arguments)
        if not isinstance(arguments, dict) or found:
            yield f"the example {example.title!r} does not fit the schema" + (f": {found[0].hint}" if found else "")


def _properties(spec: ToolSpec) -> set[str]:
    schema = spec.input_schema.value
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return set(properties) if isinstance(properties, dict) else set()


def _placed(template: str) -> tuple[str, ...]:
    return tuple(_PLACE.findall(template))


def _hint(name: str, known: Iterable[str]) -> str:
    close = nearest(name, known)
    return f" (is it {close[0]}?)" if close else ""
