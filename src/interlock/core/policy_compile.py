"""From the text of a policy file to policies: ids that stay, what they reach, what they read and what they ask."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import cedarpy

from interlock.core.canonical import Json, canonical, decode, sha256_hex
from interlock.core.errors import PolicyInvalid
from interlock.core.frozen import frozen
from interlock.core.policy_asks import Terms, terms_of
from interlock.core.policy_reads import Reads, reads_of
from interlock.core.policy_schema import GROUPS
from interlock.core.policy_terms import Mode, PolicySource
from interlock.core.tool import SHARED

# The parser recurses on the machine's stack: a thousand brackets in a row end the process. So they are counted before.
_SOURCE_CHARS_MAX = 262_144
_POLICY_CHARS_MAX = 16_384
_BRACKETS_MAX = 64
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[()\[\]{};]', re.DOTALL)
_BEFORE = re.compile(r"(?:\s|//[^\n]*)*")
"""Blanks and comments in front of a policy."""
_TOO_DEEP = "nests too deeply (some sixty operators in a row are the most): use a set, or several policies"
_OPENS, _CLOSES = "([{", ")]}"


@frozen
class Policy:
    """One policy. `actions` and `resource` are what its scope names (None: all); `form` is canonical JSON (EST)."""

    id: str
    source: str
    tenant: str
    mode: Mode
    permit: bool
    actions: frozenset[str] | None
    resource: str | None
    terms: Terms
    reads: Reads
    form: bytes

    @property
    def by_group(self) -> bool:
        """Whether it names no tool, so that it may at present reach none."""
        return self.actions is None or self.actions <= GROUPS

    @property
    def effect(self) -> str:
        """`permit` or `forbid`, for people."""
        return "permit" if self.permit else "forbid"


@lru_cache(maxsize=1_024)
def compile_source(source: PolicySource) -> tuple[Policy, ...]:
    """The policies of a source, in its order. Raises `PolicyInvalid` naming the file and the policy."""
    file = f"{source.name}.cedar" if source.tenant == SHARED else f"{source.name}.cedar of tenant {source.tenant}"
    if not re.fullmatch(r"\w[\w.-]*", source.name):
        raise PolicyInvalid(f"{source.name!r} is no name for a policy file: letters, digits, dots and dashes")
    forms = _forms(source.text, file)
    policies = tuple(_policy(form, source, file) for form in forms)
    refuse_duplicates(policies)
    return policies


def refuse_duplicates(policies: Iterable[Policy]) -> None:
    """Raise `PolicyInvalid` where two policies have one id: what decided must be one thing."""
    seen: set[str] = set()
    for policy in policies:
        if policy.id in seen:
            raise PolicyInvalid(f'two policies are {policy.id}: give each an @id("...") of its own')
        seen.add(policy.id)


def policy_set_json(policies: Iterable[Policy]) -> str:
    """The policies as Cedar's JSON policy set, under their own ids instead of their positions."""
    static = b",".join(b"%b:%b" % (canonical(policy.id), policy.form) for policy in policies)
    return _set_json(static)


def digest_of(policies: Iterable[Policy]) -> str:
    """SHA-256 (hex) over the enforced policies, ids included. Log-only ones change nothing, so not this either."""
    enforced = sorted(policy.id for policy in policies if policy.mode is Mode.ENFORCE)
    forms = {policy.id: policy.form for policy in policies}
    return sha256_hex(b"{%b}" % b",".join(b"%b:%b" % (canonical(each), forms[each]) for each in enforced))


def _forms(text: str, file: str) -> list[dict[str, Json]]:
    _refuse_oversize(text, file)
    try:
        parsed = cedarpy.policies_to_json_str(text)
    except ValueError as error:
        raise PolicyInvalid(f"{file} does not parse{_place_of_fault(text)}: {error}") from None
    try:
        whole = decode(parsed.encode())
    except (ValueError, RecursionError):
        raise PolicyInvalid(f"a policy in {file} {_TOO_DEEP}") from None
    if not isinstance(whole, dict) or whole.get("templates"):
        raise PolicyInvalid(f"{file} holds a template (?principal or ?resource): write the policy out")
    static = whole.get("staticPolicies")
    numbered = static if isinstance(static, dict) else {}
    # Cedar numbers them by position: policy0, policy1, ... policy10.
    ordered = sorted(numbered, key=lambda name: int(name.removeprefix("policy")))
    return [form for name in ordered if isinstance(form := numbered[name], dict)]


def _place_of_fault(text: str) -> str:
    """Where the first policy begins that does not parse by itself; nothing where each of them does."""
    start = 0
    for end in [*(token.end() for token in _TOKENS.finditer(text) if token.group() == ";"), len(text)]:
        try:
            cedarpy.policies_to_json_str(text[start:end])
        except ValueError:
            begins = _BEFORE.match(text, start)
            line = text.count("\n", 0, start if begins is None else begins.end()) + 1
            return f", in the policy that begins on line {line}"
        start = end
    return ""


def _refuse_oversize(text: str, file: str) -> None:
    if len(text) > _SOURCE_CHARS_MAX:
        raise PolicyInvalid(f"{file} has {len(text)} characters, {_SOURCE_CHARS_MAX} are allowed")
    depth = start = 0
    for token in [*_TOKENS.finditer(text), None]:
        end = token.end() if token else len(text)
        mark = token.group() if token else ";"
        depth += (mark in _OPENS) - (mark in _CLOSES)
        if depth > _BRACKETS_MAX:
            raise PolicyInvalid(f"{file} nests more than {_BRACKETS_MAX} brackets")
        if mark == ";":
            if end - start > _POLICY_CHARS_MAX:
                raise PolicyInvalid(f"{file} has a policy of over {_POLICY_CHARS_MAX} characters: split it")
            start = end


def _policy(form: dict[str, Json], source: PolicySource, file: str) -> Policy:
    annotations = form.get("annotations")
    texts = {name: str(text or "") for name, text in annotations.items()} if isinstance(annotations, dict) else {}
    permit = form.get("effect") == "permit"
    body = canonical(form)
    try:
        terms = terms_of(texts, permit=permit)
        reads = reads_of(form)
        actions = _actions(form.get("action"))
        cedarpy.PolicySet.from_json_str(_set_json(b'"policy":%b' % body))
    except PolicyInvalid as error:
        raise PolicyInvalid(f"policy {_id(source, texts.get('id') or '?')} in {file}: {error}") from None
    except ValueError:
        named = _id(source, texts.get("id") or "?")
        raise PolicyInvalid(f"policy {named} in {file} {_TOO_DEEP}") from None
    return Policy(
        id=_id(source, terms.id or sha256_hex(body)[:8]),
        source=file,
        tenant=source.tenant,
        mode=source.mode,
        permit=permit,
        actions=actions,
        resource=_resource(form.get("resource")),
        terms=terms,
        reads=reads,
        form=body,
    )


def _id(source: PolicySource, own: str) -> str:
    return f"{source.name}/{own}" if source.tenant == SHARED else f"{source.tenant}:{source.name}/{own}"


def _set_json(static: bytes) -> str:
    return (b'{"staticPolicies":{%b},"templates":{},"templateLinks":[]}' % static).decode()


def _actions(scope: Json) -> frozenset[str] | None:
    if not isinstance(scope, dict) or scope.get("op") == "All":
        return None
    several = scope.get("entities")
    entities = several if isinstance(several, list) else [scope.get("entity")]
    names = frozenset(str(each["id"]) for each in entities if isinstance(each, dict))
    if scope.get("op") == "==" and names & GROUPS:
        name = min(names)
        raise PolicyInvalid(f'action == Action::"{name}" matches no tool: a group is meant by `action in`')
    return names


def _resource(scope: Json) -> str | None:
    if not isinstance(scope, dict) or scope.get("op") == "All":
        return None
    if "entity_type" in scope:
        return str(scope["entity_type"])
    entity = scope.get("entity")
    return str(entity.get("type")) if isinstance(entity, dict) else None
