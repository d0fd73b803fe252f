"""A planted secret is found nowhere that is not sealed: no record, export, log, error, observation or file."""

import logging
from pathlib import Path

import pytest

from interlock import Context, Host, ToolCall, ToolFault, tool
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

    return [tell, keep]


async def act(path: str, *, seal: bytes | None) -> str:
    """All that the gate can be made to say with secrets in arguments, results and faults, as one text."""
    host = Host(secrets=FakeSecrets({"token": CREDENTIAL}), seal=seal)
    said: list[object] = []
    async with opened(path, leaky(), ASKS, host=host, secrets=(PLANTED,)) as gate:
        calls = [ToolCall("c1", "tell", {"how": how}) for how in ("return", "raise", "fault", PLANTED)]
        said += await gate.call_many(calls, principal=ALICE)
        said.append(await gate.call(ToolCall("c2", "keep", f'{{"name": "{PLANTED}"'), principal=ALICE, task="t"))
        said.append(await gate.call(ToolCall("c2", f"keep{PLANTED}", "{}"), principal=ALICE, task="t"))
        waiting = await gate.call(ToolCall("c3", "keep", {"name": "a", "text": PLANTED}), principal=ALICE, task="t")
        approval = str(waiting.approval_id)
        said += [waiting, await gate.approvals.show(approval, BOB)]
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
        lines = [line for line in said.splitlines() if secret in line]
        assert not [line for line in lines if "There is no tool named" not in line]


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


@pytest.mark.requirement("EXEC-8", "OBS-5")
async def test_a_planted_secret_is_in_no_export() -> None:
    host = Host(secrets=FakeSecrets({"token": CREDENTIAL}))
    async with opened(":memory:", leaky(), ASKS, host=host, secrets=(PLANTED,)) as gate:
        await gate.call(ToolCall("c1", "tell", {"how": "return"}), principal=ALICE)
        lines = await gate.audit.export(by=AUDITOR)
        assert not isinstance(lines, Deny)
        assert CREDENTIAL.encode() not in b"".join(lines)
