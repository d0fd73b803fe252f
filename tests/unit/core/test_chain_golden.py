"""The bytes of chains, checkpoints and exports stay as they are: older logs must always verify.

Where one of these fails, the code is wrong, not the golden file; a new format gets a new name and a new file.
"""

import json
from hashlib import sha256
from typing import Any

import pytest

from interlock.core.audit_log import Verified
from interlock.core.chain import commitment, genesis, link
from interlock.core.checkpoint import Checkpoint
from interlock.core.export import verify_export
from interlock.core.export_lines import Shown
from interlock.core.signing import fingerprint, is_signed
from tests.audit_samples import KEY, build_log, export
from tests.golden import FOLDER

GOLDEN: dict[str, Any] = json.loads((FOLDER / "chain.json").read_text(encoding="utf-8"))


@pytest.mark.requirement("AUD-2")
def test_records_link_as_they_always_did() -> None:
    tails = {chain: bytes.fromhex(found) for chain, found in GOLDEN["genesis"].items()}
    assert {chain: genesis(chain).hash for chain in tails} == GOLDEN["genesis"]
    for record in GOLDEN["records"]:
        tails[record["chain"]] = link(tails[record["chain"]], body=record["body"].encode())
        assert tails[record["chain"]].hex() == record["hash"]


@pytest.mark.requirement("AUD-4")
def test_commitments_are_as_they_always_were() -> None:
    for record in GOLDEN["records"]:
        committed = commitment(bytes.fromhex(record["salt"]), payload=record["payload"].encode())
        assert json.loads(record["body"])["commitments"] == {"arguments": committed}


@pytest.mark.requirement("AUD-2")
def test_checkpoints_are_signed_as_they_always_were() -> None:
    key = bytes.fromhex(GOLDEN["public_key"])
    assert fingerprint(key) == GOLDEN["fingerprint"]
    for checkpoint in GOLDEN["checkpoints"]:
        statement = checkpoint["statement"].encode()
        assert is_signed(statement, signature=bytes.fromhex(checkpoint["signature"]), public_key=key)
        assert sha256(b"interlock/1/checkpoint\0" + statement).hexdigest() == checkpoint["hash"]


@pytest.mark.requirement("AUD-2")
def test_an_old_export_still_verifies() -> None:
    lines = [line.encode() + b"\n" for line in GOLDEN["export"]]
    assert isinstance(verify_export(lines, fingerprints=frozenset({GOLDEN["fingerprint"]})), Verified)


def test_the_same_log_is_still_written_in_the_same_bytes() -> None:
    log = build_log()
    records = [item.record for item in log if isinstance(item, Shown)]
    checkpoints = [item for item in log if isinstance(item, Checkpoint)]
    assert KEY.hex() == GOLDEN["public_key"]
    assert [record.body.decode() for record in records] == [record["body"] for record in GOLDEN["records"]]
    assert [found.statement.decode() for found in checkpoints] == [kept["statement"] for kept in GOLDEN["checkpoints"]]
    assert [line.decode() for line in export(log)] == [line + "\n" for line in GOLDEN["export"]]
