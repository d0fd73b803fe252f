"""Writes down what happened to a call as one complete, redacted record, whatever way it ended.

The same fields stand in every record, so that a denial reads like a success. What a record does not show whole (because
something was redacted, or is long) is kept beside it, sealed.
"""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.approval import Approval
from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.budget import Amounts
from interlock.core.call import Caller, ToolCall
from interlock.core.canonical import canonical
from interlock.core.catalogue import Tool
from interlock.core.decision import Allow, Deny, Replay
from interlock.core.entry import Stamp, TenantKey, event, fragment
from interlock.core.frozen import maker
from interlock.core.journal import Event, EventKind
from interlock.core.observation import Observation
from interlock.core.observe import resource_shown
from interlock.core.operation import Operation
from interlock.core.outcome import Outcome
from interlock.core.policy import Verdict
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.tool import Risk, spec_to_json
from interlock.ports import Clock, Entropy

make_stamp = maker(Stamp)

RAW_SHOWN_MAX = 4_096
"""How much of arguments that make no operation is kept."""

NOTHING_NAMED: frozenset[str] = frozenset()
"""No fields to redact by name."""

Kept = tuple[tuple[str, bytes], ...]
"""What is kept whole beside a record, by name."""

Record = dict[str, object]

_RISKS = {risk: risk.name.lower() for risk in Risk}


class Records:
    """Builds the events of one process. Holds the tenants' keys and the redactor; writes nothing itself."""

    def __init__(self, master: bytes, *, clock: Clock, entropy: Entropy, redactor: Redactor) -> None:
        self._master = master
        self._clock = clock
        self._entropy = entropy
        self._keys: dict[str, TenantKey] = {}
        self.redactor = redactor

    def key(self, tenant: str) -> TenantKey:
        """The tenant's key, derived once."""
        found = self._keys.get(tenant)
        if found is None:
            found = self._keys[tenant] = TenantKey.derive(self._master, tenant)
        return found

    def refused(self, call: ToolCall, caller: Caller, deny: Deny, *, redact: frozenset[str] = NOTHING_NAMED) -> Event:
        """A proposal that ended before anything ran. `redact` is what policy may hide where it gave no verdict."""
        operation = deny.operation
        key = self.key(caller.principal.tenant)
        if operation is None:
            raw = _raw(call)
            record = _record(caller, self.redactor.text(call.id), deny.tool, verdict=deny.verdict)
            record["tool"] = self.redactor.text(call.name)[:128]
            record["arguments"] = {"bytes": len(raw), "digest": key.keyed(raw)}
            kept: Kept = (("arguments", raw),)
        else:
            record, kept = self._proposed(operation, deny.verdict, key=key, redact=redact)
        record["status"] = "refused"
        record["code"] = (deny.audited or deny.code).value
        record["told"] = deny.code.value
        record["says"] = self.redactor.text(deny.message)
        return self._event(EventKind.REFUSED, record, key, kept=kept)

    def claimed(self, operation: Operation, allow: Allow, operation_id: str) -> Event:
        """The intent, before the effect."""
        key = self.key(operation.caller.principal.tenant)
        record, kept = self._proposed(operation, allow.verdict, key=key)
        record["status"] = "claimed"
        record["subject"] = operation_id
        record["approval"] = _grant(allow)
        return self._event(EventKind.CLAIMED, record, key, kept=kept)

    def waiting(self, operation: Operation, verdict: Verdict, approval: Approval) -> Event:
        """A question put to people."""
        key = self.key(operation.caller.principal.tenant)
        record, kept = self._proposed(operation, verdict, key=key)
        record["status"] = "waiting"
        record["subject"] = record["approval"] = approval.id
        record["code"] = Code.APPROVAL_REQUIRED.value
        record["roles"] = sorted(approval.requirement.roles)
        record["quorum"] = approval.requirement.quorum
        record["expires_at_us"] = approval.expires_at_us
        record["replaces"] = approval.replaces
        return self._event(EventKind.WAITING, record, key, kept=kept)

    def replayed(self, operation: Operation, replay: Replay, seen: Observation) -> Event:
        """A repeat that ran nothing."""
        key = self.key(operation.caller.principal.tenant)
        record, kept = self._proposed(operation, replay.verdict, key=key)
        record["status"] = seen.status.value
        record["subject"] = replay.prior.operation_id
        record["replayed"] = True
        record["executed_at_us"] = seen.executed_at_us
        record["visible"] = replay.visible
        return self._event(EventKind.REPLAYED, record, key, kept=kept)

    def cached(self, operation: Operation, allow: Allow, seen: Observation) -> Event:
        """A read that was not made again."""
        key = self.key(operation.caller.principal.tenant)
        record, kept = self._proposed(operation, allow.verdict, key=key)
        record["status"] = seen.status.value
        record["subject"] = seen.operation_id
        record["executed_at_us"] = seen.executed_at_us
        record["cached_s"] = seen.cached_s
        return self._event(EventKind.CACHED, record, key, kept=kept)

    def settled(
        self, operation: Operation, allow: Allow, seen: Observation, *, outcome: Outcome, spent: Amounts
    ) -> Event:
        """What came of an execution."""
        key = self.key(operation.caller.principal.tenant)
        record, kept = self._executed(operation, allow.verdict, seen, key=key)
        record["approval"] = _grant(allow)
        record["attempts"] = outcome.attempts
        record["working_ms"] = spent.working_ms
        record["cost_micros"] = spent.cost_micros
        record["tokens"] = spent.tokens
        return self._event(EventKind.SETTLED, record, key, kept=kept)

    def late(self, operation: Operation, seen: Observation, *, redact: frozenset[str] = NOTHING_NAMED) -> Event:
        """A result that came when its call was settled already, or another worker's: recorded, never used."""
        key = self.key(operation.caller.principal.tenant)
        record, kept = self._executed(operation, None, seen, key=key, redact=redact)
        return self._event(EventKind.LATE, record, key, kept=kept)

    def act(self, kind: EventKind, tenant: str, record: Mapping[str, object], *, kept: bytes | None = None) -> Event:
        """An act of the control plane or of an approver; `record` names who, what and the subject."""
        shown = {name: _shown(value, self.redactor) for name, value in record.items()}
        return self._event(kind, shown, self.key(tenant), kept=() if kept is None else (("text", kept),))

    def _event(self, kind: EventKind, record: Record, key: TenantKey, *, kept: Kept) -> Event:
        random = self._entropy.bytes(32 + 16 * len(kept))
        return event(kind, record, stamp=make_stamp(key, self._clock.now_us(), random), kept=kept)

    def _proposed(
        self,
        operation: Operation,
        verdict: Verdict | None,
        *,
        key: TenantKey,
        redact: frozenset[str] = NOTHING_NAMED,
    ) -> tuple[Record, Kept]:
        """What was proposed and what policy made of it, with the arguments beside it where they are not shown whole."""
        tool, arguments = operation.tool, operation.arguments
        named = redact if verdict is None else verdict.redact
        redacted, call_id = self._redacted(operation, named)
        record = _record(operation.caller, call_id, tool, verdict=verdict)
        shown = record["arguments"] = fragment(redacted, arguments, key)
        record["operation"] = key.keyed(operation.digest)
        if operation.key is not None:
            record["key"] = key.keyed(operation.key)
        if operation.resource is not None:
            record["resource"] = resource_shown(operation, self.redactor, named)
        if operation.call.expectation:
            record["expectation"] = self.redactor.text(operation.call.expectation)[:512]
        is_whole = redacted is arguments and not isinstance(shown, dict)
        return record, () if is_whole else (("arguments", arguments),)

    def _redacted(self, operation: Operation, named: frozenset[str]) -> tuple[bytes, str]:
        """The arguments and the call's id as they may be shown."""
        arguments, call_id, marked = operation.arguments, operation.call.id, operation.tool.sensitive
        if not marked and not named and self.redactor.finds_nothing(b"%b\n%b" % (arguments, call_id.encode())):
            return arguments, call_id
        return self.redactor.json_bytes(arguments, marked=marked, named=named), self.redactor.text(call_id)

    def _executed(
        self,
        operation: Operation,
        verdict: Verdict | None,
        seen: Observation,
        *,
        key: TenantKey,
        redact: frozenset[str] = NOTHING_NAMED,
    ) -> tuple[Record, Kept]:
        """What was proposed and what came of it. Results are redacted already: an observation is for a model's eyes."""
        record, kept = self._proposed(operation, verdict, key=key, redact=redact)
        record["status"] = str(seen.status)
        record["subject"] = seen.operation_id
        data = seen.data_json
        if data is not None:
            shown = record["result"] = fragment(data, data, key)
            if isinstance(shown, dict):
                kept = (*kept, ("result", data))
        if seen.error is not None:
            record["code"] = seen.error.code.value
            record["says"] = seen.error.message
        return record, kept


def _record(caller: Caller, call_id: str, tool: Tool | None, *, verdict: Verdict | None) -> Record:
    """The fields of every record, in one literal: it is made for every call. The encoder is slow on enums."""
    principal, origin = caller.principal, caller.origin
    spec = None if tool is None else tool.spec
    record: Record = {
        "principal": principal.id,
        "kind": str(principal.kind),
        "on_behalf_of": principal.acting_for or principal.id,
        "door": origin.door,
        "agent": origin.agent,
        "model": origin.model,
        "trace_id": origin.trace_id,
        "actor": origin.actor,
        "run": caller.run,
        "task": caller.task,
        "call_id": call_id,
        "tool": None if spec is None else spec.name,
        "source": None if spec is None else spec.source,
        "version": None if spec is None else spec.version,
        "spec": None if tool is None else tool.digest,
        "effect": None if spec is None else str(spec.effect),
        "risk": None if spec is None else _RISKS[spec.risk],
        "status": None,
        "code": None,
        "answer": None if verdict is None else str(verdict.answer),
        "policies": () if verdict is None else verdict.policies,
        "slice": None if verdict is None else verdict.slice_digest,
        "reason": None if verdict is None else verdict.reason,
    }
    if verdict is not None and verdict.log_only:
        record["log_only"] = verdict.log_only
    return record


def _grant(allow: Allow) -> str | None:
    return None if allow.grant is None else allow.grant.id


def _raw(call: ToolCall) -> bytes:
    """The arguments as they came, as far as they are kept. What is no text is read as it is for a call, never printed:
    its own code would run then."""
    arguments = call.arguments
    if isinstance(arguments, bytes):
        return arguments[:RAW_SHOWN_MAX]
    if isinstance(arguments, str):
        return arguments[:RAW_SHOWN_MAX].encode("utf-8", "replace")
    parsed = parse_arguments(arguments)
    return b"" if isinstance(parsed, Unparsed) or not parsed else canonical(parsed)[:RAW_SHOWN_MAX]


def _shown(value: object, redactor: Redactor) -> object:
    return redactor.text(value) if isinstance(value, str) else redactor.json(spec_to_json(value))
