"""Writes down what happened to a call as one complete, redacted record, whatever way it ended.

The same fields stand in every record, so that a denial reads like a success. What a record does not show whole (because
something was redacted, or is long) is kept beside it, sealed.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from interlock.core.approval import Approval
from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.budget import Amounts
from interlock.core.call import Caller, ToolCall
from interlock.core.canonical import canonical
from interlock.core.catalogue import Tool
from interlock.core.decision import Allow, Deny, Replay
from interlock.core.entry import SUMMARY_BYTES_MAX, Kept, Stamp, TenantKey, event, event_of, fragment
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

_CLAIMED, _SETTLED = EventKind.CLAIMED, EventKind.SETTLED  # looking them up in their class costs as much as a call

RAW_SHOWN_MAX = 4_096
"""How much of arguments that make no operation is kept."""

NOTHING_NAMED: frozenset[str] = frozenset()
"""No fields to redact by name."""

Record = dict[str, object]

HEADS_MAX = 1_024
"""How many beginnings of records are remembered, before all are written anew."""

_RISKS = {risk: risk.name.lower() for risk in Risk}


Proposed = tuple[TenantKey, bytes, str, Kept]
"""What each record of one call says of its proposal. It is worked out once, though an effect is recorded twice.

After the tenant's key the fields of the proposal, as JSON that is still open; then the call's id as it is shown, and
what is kept whole beside the record.
"""


class Records:
    """Builds the events of one process. Holds the tenants' keys and the redactor; writes nothing itself."""

    def __init__(self, master: bytes, *, clock: Clock, entropy: Entropy, redactor: Redactor) -> None:
        self._master = master
        self._clock = clock
        self._entropy = entropy
        self._keys: dict[str, TenantKey] = {}
        self._heads: dict[tuple[object, ...], tuple[bytes, object]] = {}
        self.redactor = redactor

    def key(self, tenant: str) -> TenantKey:
        """The tenant's key, derived once."""
        found = self._keys.get(tenant)
        if found is None:
            found = self._keys[tenant] = TenantKey.derive(self._master, tenant)
        return found

    def refused(
        self,
        call: ToolCall,
        caller: Caller,
        deny: Deny,
        *,
        redact: frozenset[str] = NOTHING_NAMED,
        grant: Approval | None = None,
    ) -> Event:
        """A proposal that ended before anything ran. `redact` is what policy may hide where it gave no verdict.

        With the `grant` that it came back with it was proposed before, and is no new proposal.
        """
        granted: Record = {} if grant is None else {"approval": grant.id}
        if deny.operation is None:
            return self._refused_unseen(call, caller, deny, granted=granted)
        told = self.proposed(deny.operation, deny.verdict, redact=redact)
        return self._event(EventKind.REFUSED, told, {**self._refusal(deny), **granted})

    def _refused_unseen(self, call: ToolCall, caller: Caller, deny: Deny, *, granted: Record) -> Event:
        """A proposal that made no operation. What was said is kept as it came."""
        key, raw = self.key(caller.principal.tenant), _raw(call)
        record = {
            **_record(caller, deny.tool, verdict=deny.verdict),
            "tool": self.redactor.text(call.name)[:128],
            "call_id": self.redactor.text(call.id),
            "arguments": {"bytes": len(raw), "digest": key.keyed(raw)},
            **self._refusal(deny),
            **({"version": deny.meant, "spec": None} if deny.meant else {}),
            **granted,
        }
        return event(EventKind.REFUSED, record, stamp=self._stamp(key, 2), kept=(("arguments", raw),))

    def _refusal(self, deny: Deny) -> Record:
        return {
            "status": "refused",
            "code": (deny.audited or deny.code).value,
            "told": deny.code.value,
            "says": self.redactor.text(deny.message),
        }

    def claimed(self, told: Proposed, allow: Allow, operation_id: str) -> Event:
        """The intent, before the effect."""
        record: Record = {"status": "claimed", "code": None, "subject": operation_id, "approval": _grant(allow)}
        return self._event(_CLAIMED, told, record)

    def waiting(self, operation: Operation, verdict: Verdict, approval: Approval) -> Event:
        """A question put to people."""
        record: Record = {
            "status": "waiting",
            "subject": approval.id,
            "approval": approval.id,
            "code": Code.APPROVAL_REQUIRED.value,
            "roles": sorted(approval.requirement.roles),
            "quorum": approval.requirement.quorum,
            "expires_at_us": approval.expires_at_us,
            "replaces": approval.replaces,
        }
        return self._event(EventKind.WAITING, self.proposed(operation, verdict), record)

    def replayed(self, operation: Operation, replay: Replay, seen: Observation) -> Event:
        """A repeat that ran nothing."""
        record: Record = {
            "status": seen.status.value,
            "code": None,
            "subject": replay.prior.operation_id,
            "replayed": True,
            "executed_at_us": seen.executed_at_us,
            "visible": replay.visible,
        }
        return self._event(EventKind.REPLAYED, self.proposed(operation, replay.verdict), record)

    def cached(self, operation: Operation, allow: Allow, seen: Observation) -> Event:
        """A read that was not made again."""
        record: Record = {
            "status": seen.status.value,
            "code": None,
            "subject": seen.operation_id,
            "executed_at_us": seen.executed_at_us,
            "cached_s": seen.cached_s,
        }
        return self._event(EventKind.CACHED, self.proposed(operation, allow.verdict), record)

    def settled(self, told: Proposed, allow: Allow, seen: Observation, *, outcome: Outcome, spent: Amounts) -> Event:
        """What came of an execution. Results are redacted already: an observation is for a model's eyes."""
        _, _, tokens, cost_micros, working_ms, _ = spent
        record: Record = {
            "status": str(seen.status),
            "code": None,
            "subject": seen.operation_id,
            "approval": None if allow.grant is None else allow.grant.id,
            "attempts": outcome.attempts,
            "working_ms": working_ms,
            "cost_micros": cost_micros,
            "tokens": tokens,
            "evidence": None if seen.evidence is None else str(seen.evidence.kind),
        }
        return self._event(_SETTLED, told, record, seen=seen)

    def late(self, operation: Operation, seen: Observation, *, redact: frozenset[str] = NOTHING_NAMED) -> Event:
        """A result that came when its call was settled already, or another worker's: recorded, never used."""
        record: Record = {"status": str(seen.status), "code": None, "subject": seen.operation_id}
        return self._event(EventKind.LATE, self.proposed(operation, None, redact=redact), record, seen=seen)

    def act(self, kind: EventKind, tenant: str, record: Mapping[str, object], *, kept: bytes | None = None) -> Event:
        """An act of the control plane or of an approver; `record` names who, what and the subject."""
        shown = {name: _shown(value, self.redactor) for name, value in record.items()}
        beside: Kept = () if kept is None else (("text", kept),)
        return event(kind, shown, stamp=self._stamp(self.key(tenant), 1 + len(beside)), kept=beside)

    def proposed(
        self,
        operation: Operation,
        verdict: Verdict | None,
        *,
        redact: frozenset[str] = NOTHING_NAMED,
        is_clean: bool = False,
    ) -> Proposed:
        """What was proposed and what policy made of it, with the arguments beside it where they are not shown whole.

        `is_clean`: it was looked at already (`finds_nothing`).
        """
        tenant = operation.caller.principal.tenant
        key = self._keys.get(tenant) or self.key(tenant)
        arguments, digest = operation.arguments, operation.digest
        named = redact if verdict is None else verdict.redact
        redacted, call_id = (arguments, operation.call.id) if is_clean else self._redacted(operation, named)
        shown = fragment(redacted, arguments, key)
        fields: Record = {"call_id": call_id, "arguments": shown, "operation": key.keyed(digest)}
        if operation.key is not None:
            fields["key"] = key.keyed(operation.key)
        if operation.resource is not None:
            fields["resource"] = resource_shown(operation, self.redactor, named)
        if operation.call.expectation:
            fields["expectation"] = self.redactor.text(operation.call.expectation)[:512]
        is_whole = redacted is arguments and not isinstance(shown, dict)
        head = self._head(operation.caller, operation.tool, verdict)
        said = b"".join((head, orjson.dumps(fields)[1:-1], b","))
        return key, said, call_id, () if is_whole else (("arguments", arguments),)

    def _head(self, caller: Caller, tool: Tool, verdict: Verdict | None) -> bytes:
        """The fields that depend on nothing else, as JSON without its end. Remembered with what it was made of: those
        who call often come with the same, and what is kept alive cannot lend its identity to another."""
        who, origin = caller.principal, caller.origin
        place = (who.id, who.kind, who.acting_for, caller.run, caller.task, id(origin), id(tool), id(verdict))
        known = self._heads.get(place)
        if known is not None:
            return known[0]
        head = orjson.dumps(_record(caller, tool, verdict=verdict))[:-1] + b","
        if len(self._heads) >= HEADS_MAX:
            self._heads.clear()
        self._heads[place] = head, (origin, tool, verdict)
        return head

    def _event(self, kind: EventKind, told: Proposed, record: Record, *, seen: Observation | None = None) -> Event:
        """The record of `told` and what else there is to say, of what was `seen` too."""
        key, head, call_id, kept = told
        if seen is not None and seen.data_json is not None:
            shown = record["result"] = fragment(seen.data_json, seen.data_json, key)
            kept = (*kept, ("result", seen.data_json)) if isinstance(shown, dict) else kept
        if seen is not None and seen.error is not None:
            record["code"] = seen.error.code.value
            record["says"] = seen.error.message
        said = b"".join((head, orjson.dumps(record)[1:]))
        about = (call_id, str(record.get("subject") or ""))
        stamp = key, self._clock.now_us(), self._entropy.bytes(32 + 16 * len(kept))  # `_stamp`, spelled out
        return event_of(kind, said, about=about, stamp=stamp, kept=kept)

    def _stamp(self, key: TenantKey, payloads: int) -> Stamp:
        return key, self._clock.now_us(), self._entropy.bytes(16 + 16 * payloads)

    def finds_nothing(self, operation: Operation, verdict: Verdict, result: bytes) -> bool:
        """Whether there is surely nothing to hide in the arguments of a call, its id and its result: one search instead
        of one for each. Where there may be, or the result is long, each of them is looked at by itself."""
        if operation.tool.sensitive or verdict.redact or len(result) > SUMMARY_BYTES_MAX:
            return False
        return self.redactor.finds_nothing(b"%b\n%b\n%b" % (operation.arguments, operation.call.id.encode(), result))

    def _redacted(self, operation: Operation, named: frozenset[str]) -> tuple[bytes, str]:
        """The arguments and the call's id as they may be shown."""
        arguments, call_id, marked = operation.arguments, operation.call.id, operation.tool.sensitive
        if not marked and not named and self.redactor.finds_nothing(b"%b\n%b" % (arguments, call_id.encode())):
            return arguments, call_id
        return self.redactor.json_bytes(arguments, marked=marked, named=named), self.redactor.text(call_id)


def _record(caller: Caller, tool: Tool | None, *, verdict: Verdict | None) -> Record:
    """Who and what and why: the fields of every record that many calls share. The encoder is slow on enums."""
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
        "tool": None if spec is None else spec.name,
        "source": None if spec is None else spec.source,
        "version": None if spec is None else spec.version,
        "spec": None if tool is None else tool.digest,
        "effect": None if spec is None else str(spec.effect),
        "risk": None if spec is None else _RISKS[spec.risk],
        "external": None if spec is None else spec.external,
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
