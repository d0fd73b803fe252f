"""A planted secret is found nowhere that is not sealed: no record, export, log, error, observation or file."""

import logging
from pathlib import Path

import pytest

from interlock import Context, Host, Labels, Result, Source, ToolCall, ToolFault, tool
from interlock.core.canonical import canonical
from interlock.core.decision import Deny
from interlock.core.observation import Observation
from interlock.testing.fakes import FakeSecrets
from tests.gates import ALICE, AUDITOR, BOB, AnyTool, opened, records

CREDENTIAL = "cred-77f0b6a1e9"
PLANTED = "plant-3c9d5e21aa"
KEY = bytes(range(32))
ASKS = """
permit (principal, action, resource);
@approval("approver") permit (principal, action == Action::"keep", resource);
"""


def leaky() -> list[AnyTool]:
    @tool(effect="read", secrets=["token"], name="tell")
    async def tell(how: str, context: Context) -> dict[str, str]:
        """Tell everything."""
        secret = context.secrets["token"]
        if how == "raise":
            raise ValueError(f"{secret} and {how}")
        if how == "fault":
            raise ToolFault("no", f"{secret} and {PLANTED}")
        return {"token": secret, "text": f"it is {secret}, or {PLANTED}"}

    @tool(effect="write", name="keep", key=["name"])
    async def keep(name: str, text: str) -> str:
        """Keep a text."""
        return f"kept {text}"

    @tool(effect="write", name="file", key=["name"], secrets=["token"], resource=("Doc", "name"))
    async def file(name: str, context: Context) -> dict[str, str]:
        """File it, and say too much beside the result."""
        told = f"{context.secrets['token']} and {PLANTED}"
        return Result(  # type: ignore[return-value]
            {},
            resource_version=told,
            data_version=told,
            labels=Labels(origins=frozenset({told})),
            sources=(Source(told, told),),
            open_items=(told,),
        )

    return [tell, keep, file]


async def act(path: str, *, seal: bytes | None) -> str:
    """All that the gate can be made to say with secrets in arguments, results and faults, as one text."""
    host = Host(secrets=FakeSecrets({"token": CREDENTIAL}), seal=seal)
    said: list[object] = []
    async with opened(path, leaky(), ASKS, host=host, secrets=(PLANTED,)) as gate:
        calls = [ToolCall("c1", "tell", {"how": how}) for how in ("return", "raise", "fault", PLANTED)]
        said += await gate.call_many(calls, principal=ALICE)
        said.append(await gate.call(ToolCall("c2", "keep", f'{{"name": "{PLANTED}"'), principal=ALICE, task="t"))
        said.append(await gate.call(ToolCall("c2", f"keep{PLANTED}", "{}"), principal=ALICE, task="t"))
        said.append(await gate.call(ToolCall("c2", f"{'k' * 120}{PLANTED}", "{}"), principal=ALICE, task="t"))
        hopeful = ToolCall("c4", "file", {"name": PLANTED}, expectation="e" * 505 + PLANTED)
        said += [await gate.call(hopeful, principal=ALICE, run="r1", task="t") for _ in range(2)]
        waiting = await gate.call(ToolCall("c3", "keep", {"name": "a", "text": PLANTED}), principal=ALICE, task="t")
        approval = str(waiting.approval_id)
        said += [waiting, await gate.approvals.show(approval, by=BOB)]
        await gate.approvals.approve(approval, by=BOB, note=PLANTED)
        said += [await gate.approvals.resume(approval, by=BOB), await gate.approvals.resume(approval, by=BOB)]
        said += [await records(gate), await gate.usage("acme")]
    return "\n".join(
        canonical(each.to_json()).decode() if isinstance(each, Observation) else str(each) for each in said
    )


@pytest.mark.requirement("EXEC-8", "OBS-5")
async def test_a_planted_secret_is_in_no_observation_record_approval_or_log(
    gate_path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        said = await act(gate_path, seal=None)
    for secret in (CREDENTIAL, PLANTED):
        assert secret not in caplog.text
        assert secret not in said
        assert secret[:7] not in said


@pytest.mark.requirement("EXEC-8", "OBS-5")
async def test_with_a_key_set_a_planted_secret_is_nowhere_in_the_file(tmp_path: Path) -> None:
    await act(str(tmp_path / "gate.db"), seal=KEY)
    assert found(tmp_path) == []


def found(folder: Path) -> list[str]:
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert any(each.suffix == ".db" for each in files)
    return [
        f"{each.name}: {secret}"
        for each in files
        for secret in (CREDENTIAL, PLANTED)
        if secret.encode() in each.read_bytes()
    ]


@pytest.mark.requirement("OBS-5")
async def test_labels_that_a_handler_makes_of_a_secret_are_not_stored_with_it(tmp_path: Path) -> None:
    path = tmp_path / "gate.db"
    host = Host(secrets=FakeSecrets({"token": CREDENTIAL}), seal=KEY)
    async with opened(str(path), leaky(), ASKS, host=host, secrets=(PLANTED,)) as gate:
        seen = await gate.call(ToolCall("c1", "file", {"name": "a"}), principal=ALICE, run="r1", task="t")
        assert seen.labels is not None
        assert seen.labels.origins == {"[redacted] and [redacted]"}
    assert found(tmp_path) == []


@pytest.mark.requirement("EXEC-8", "OBS-5")
async def test_a_planted_secret_is_in_no_export() -> None:
    host = Host(secrets=FakeSecrets({"token": CREDENTIAL}))
    async with opened(":memory:", leaky(), ASKS, host=host, secrets=(PLANTED,)) as gate:
        await gate.call(ToolCall("c1", "tell", {"how": "return"}), principal=ALICE)
        lines = await gate.audit.export(by=AUDITOR)
        assert not isinstance(lines, Deny)
        assert CREDENTIAL.encode() not in b"".join(lines)
