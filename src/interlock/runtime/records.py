"""Writes down what happened to a call as one complete, redacted record, whatever way it ended.

The same fields stand in every record, so that a denial can be read like a success.
"""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.approval import Approval
from interlock.core.budget import Amounts
from interlock.core.call import Caller, ToolCall
from interlock.core.catalogue import Tool
from interlock.core.decision import Allow, Deny, Replay
from interlock.core.entry import Stamp, TenantKey, event, fragment
from interlock.core.journal import Event, EventKind
from interlock.core.observation import Observation
from interlock.core.operation import Operation
from interlock.core.outcome import Outcome
from interlock.core.policy import Verdict
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.tool import spec_to_json
from interlock.ports import Clock, Entropy

ARGUMENTS_SHOWN_MAX = 4_096


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

    def refused(self, call: ToolCall, caller: Caller, deny: Deny) -> Event:
        """A proposal that ended before anything ran."""
        operation = deny.operation
        key = self.key(caller.principal.tenant)
        record = _who(caller)
        record["call_id"] = call.id
        record["tool"] = call.name[:128]
        record["code"] = (deny.audited or deny.code).value
        record["told"] = deny.code.value
        record["says"] = self.redactor.text(deny.message)
        record["status"] = "refused"
        kept: tuple[tuple[str, bytes], ...] = ()
        if operation is not None:
            kept = (("arguments", operation.arguments),)
            record |= self._what(operation, deny.verdict, key)
        elif deny.tool is not None:
            record |= _contract(deny.tool)
        if operation is None:
            kept = (("arguments", _raw(call)),)
            record["arguments"] = {"bytes": len(kept[0][1]), "digest": key.keyed(kept[0][1])}
        return self._event(EventKind.REFUSED, record, key, kept)

    def claimed(self, operation: Operation, allow: Allow, operation_id: str) -> Event:
        """The intent, before the effect."""
        more: dict[str, object] = {"status": "claimed", "subject": operation_id, "approval": _grant(allow)}
        return self._decided(EventKind.CLAIMED, operation, allow.verdict, more)

    def waiting(self, operation: Operation, verdict: Verdict, approval: Approval) -> Event:
        """A question put to people."""
        requirement = approval.requirement
        return self._decided(
            EventKind.WAITING,
            operation,
            verdict,
            {
                "status": "waiting",
                "subject": approval.id,
                "approval": approval.id,
                "code": Code.APPROVAL_REQUIRED.value,
                "roles": sorted(requirement.roles),
                "quorum": requirement.quorum,
                "expires_at_us": approval.expires_at_us,
            },
        )

    def replayed(self, operation: Operation, replay: Replay, seen: Observation) -> Event:
        """A repeat that ran nothing."""
        return self._decided(
            EventKind.REPLAYED,
            operation,
            replay.verdict,
            {
                "status": seen.status.value,
                "subject": replay.prior.operation_id,
                "replayed": True,
                "executed_at_us": seen.executed_at_us,
                "visible": replay.visible,
            },
        )

    def settled(
        self, operation: Operation, allow: Allow, seen: Observation, *, outcome: Outcome, spent: Amounts
    ) -> Event:
        """What came of an execution."""
        return self._executed(
            EventKind.SETTLED,
            operation,
            allow.verdict,
            seen,
            more={
                "approval": _grant(allow),
                "attempts": outcome.attempts,
                "working_ms": spent.working_ms,
                "cost_micros": spent.cost_micros,
                "tokens": spent.tokens,
            },
        )

    def late(self, operation: Operation, seen: Observation) -> Event:
        """A result that came when its call was settled already, or another worker's: recorded, never used."""
        return self._executed(EventKind.LATE, operation, None, seen, more={})

    def _executed(
        self,
        kind: EventKind,
        operation: Operation,
        verdict: Verdict | None,
        seen: Observation,
        *,
        more: dict[str, object],
    ) -> Event:
        key = self.key(operation.caller.principal.tenant)
        record = _who(operation.caller)
        record["call_id"] = operation.call.id
        record |= self._what(operation, verdict, key)
        record["status"] = seen.status.value
        record["subject"] = seen.operation_id
        record |= more
        kept: tuple[tuple[str, bytes], ...] = (("arguments", operation.arguments),)
        if seen.data_json is not None:
            record["result"] = fragment(self.redactor.json_bytes(seen.data_json), seen.data_json, key)
            kept = (("arguments", operation.arguments), ("result", seen.data_json))
        if seen.error is not None:
            record["code"] = seen.error.code.value
            record["says"] = self.redactor.text(seen.error.message)
        return self._event(kind, record, key, kept)

    def _decided(self, kind: EventKind, operation: Operation, verdict: Verdict, more: Mapping[str, object]) -> Event:
        key = self.key(operation.caller.principal.tenant)
        record = _who(operation.caller)
        record["call_id"] = operation.call.id
        record |= self._what(operation, verdict, key)
        record |= more
        return self._event(kind, record, key, (("arguments", operation.arguments),))

    def act(self, kind: EventKind, tenant: str, record: Mapping[str, object], *, kept: bytes | None = None) -> Event:
        """An act of the control plane or of an approver; `record` names who, what and the subject."""
        shown = {name: _shown(value, self.redactor) for name, value in record.items()}
        return self._event(kind, shown, self.key(tenant), () if kept is None else (("text", kept),))

    def _event(
        self, kind: EventKind, record: Mapping[str, object], key: TenantKey, kept: tuple[tuple[str, bytes], ...]
    ) -> Event:
        random = self._entropy.bytes(32 + 16 * len(kept))
        return event(kind, record, stamp=Stamp(key, self._clock.now_us(), random), kept=kept)

    def _what(self, operation: Operation, verdict: Verdict | None, key: TenantKey) -> dict[str, object]:
        """What was proposed and what policy made of it."""
        record = _contract(operation.tool)
        redacted = self.redactor.json_bytes(operation.arguments, marked=operation.tool.sensitive)
        record["arguments"] = fragment(redacted, operation.arguments, key)
        record["operation"] = key.keyed(operation.digest)
        if operation.key is not None:
            record["key"] = key.keyed(operation.key)
        if operation.resource is not None:
            record["resource"] = self.redactor.text(operation.resource.name)
        if operation.call.expectation:
            record["expectation"] = self.redactor.text(operation.call.expectation[:512])
        if verdict is not None:
            record["answer"] = verdict.answer.value
            record["policies"] = verdict.policies
            record["slice"] = verdict.slice_digest
            record["reason"] = verdict.reason
            if verdict.log_only:
                record["log_only"] = verdict.log_only
        return record


def _grant(allow: Allow) -> str | None:
    return None if allow.grant is None else allow.grant.id


def _who(caller: Caller) -> dict[str, object]:
    principal = caller.principal
    origin = caller.origin
    return {
        "principal": principal.id,
        "kind": principal.kind.value,
        "on_behalf_of": principal.on_behalf_of,
        "door": origin.door,
        "agent": origin.agent,
        "model": origin.model,
        "trace_id": origin.trace_id,
        "actor": origin.actor,
        "run": caller.run,
        "task": caller.task,
    }


def _contract(tool: Tool) -> dict[str, object]:
    spec = tool.spec
    return {
        "tool": spec.name,
        "source": spec.source,
        "version": spec.version,
        "spec": tool.digest,
        "effect": spec.effect.value,
        "risk": spec.risk.name.lower(),
    }


def _raw(call: ToolCall) -> bytes:
    arguments = call.arguments
    if isinstance(arguments, bytes):
        return arguments[:ARGUMENTS_SHOWN_MAX]
    text = "" if arguments is None else arguments if isinstance(arguments, str) else repr(arguments)
    return text[:ARGUMENTS_SHOWN_MAX].encode("utf-8", "replace")


def _shown(value: object, redactor: Redactor) -> object:
    return redactor.text(value) if isinstance(value, str) else redactor.json(spec_to_json(value))
