"""Builds small audit logs for tests: the same steps always give the same bytes."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from interlock.core.audit_entry import AuditEntry, encode_entry
from interlock.core.audit_log import LogItem
from interlock.core.chain import SALT_BYTES, Head, commitment, extend, genesis
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark, draw_up, signed
from interlock.core.export import export_lines
from interlock.core.export_lines import Kept, Shown
from interlock.core.signing import fingerprint, public_key, sign

PRIVATE_KEY = bytes(range(32))
KEY = public_key(PRIVATE_KEY)
KEYS = frozenset({KEY})
FINGERPRINTS = frozenset({fingerprint(KEY)})
TIME_US = 1_764_460_800_000_000

# Two writers and two checkpoints; "*" is a checkpoint. Every odd record is acme's, every even one globex's.
STEPS = ("a", "b", "a", "*", "b", "b", "a", "*")

Item = Shown | Checkpoint


def build_log(steps: Sequence[str] = STEPS, *, private_key: bytes = PRIVATE_KEY) -> list[Item]:
    """One record for each name of a writer and one checkpoint for each "*", as a log is read."""
    heads: dict[str, Head] = {}
    items: list[Item] = []
    mark = BEGINNING
    for moment, step in enumerate(steps):
        if step == "*":
            checkpoint = seal(heads.values(), after=mark, time_us=TIME_US + moment, private_key=private_key)
            mark = checkpoint.mark
            items.append(checkpoint)
        else:
            shown = _shown(heads.get(step, genesis(step)), TIME_US + moment)
            heads[step] = shown.record.head
            items.append(shown)
    return items


def seal(heads: Iterable[Head], *, after: Mark, time_us: int, private_key: bytes = PRIVATE_KEY) -> Checkpoint:
    key = fingerprint(public_key(private_key))
    drawn = draw_up(heads, after=after, time_us=time_us, key_fingerprint=key)
    return signed(drawn, signature=sign(drawn.statement, private_key=private_key))


def plain(items: Iterable[Item]) -> list[LogItem]:
    """The log as the store reads it: records without their payloads."""
    return [item.record if isinstance(item, Shown) else item for item in items]


def export(items: Iterable[Item], *, since: int = 0) -> list[bytes]:
    return list(export_lines(items, tenant="acme", keys=KEYS, since=since))


def _shown(head: Head, time_us: int) -> Shown:
    sequence = head.sequence + 1
    kept = Kept(_bytes("salt", head.chain, sequence)[:SALT_BYTES], f"arguments {sequence} of {head.chain}".encode())
    entry = AuditEntry(
        chain=head.chain,
        sequence=sequence,
        time_us=time_us,
        tenant="acme" if sequence % 2 else "globex",
        kind="call.settled",
        nonce=_bytes("nonce", head.chain, sequence).hex()[:32],
        ids=(("call", f"{head.chain}{sequence}"),),
        commitments=(("arguments", commitment(kept.salt, payload=kept.payload)),),
    )
    return Shown(extend(head, bodies=[encode_entry(entry)])[0], (("arguments", kept),))


def _bytes(*parts: object) -> bytes:
    return sha256(" ".join(map(str, parts)).encode()).digest()
