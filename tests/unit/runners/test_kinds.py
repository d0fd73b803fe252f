"""Each kind of tool has its runner, made when it is first needed, and closed with the others."""

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.redaction import Redactor
from interlock.declare import http_tool
from interlock.runners.http import HttpRunner
from interlock.runners.kinds import Kinds
from interlock.runners.spool import Spools
from interlock.settings import Settings
from interlock.store.memory import MemoryStore
from interlock.system import SystemClock


def kinds() -> Kinds:
    return Kinds(Settings(), Redactor(), Spools(MemoryStore().artifacts, SystemClock(), lambda: "1"))


@pytest.mark.requirement("TOOL-6")
async def test_there_is_one_for_every_kind() -> None:
    runners = kinds().runners()
    assert [*runners] == ["python", "sandbox", "http", "grpc", "mcp"]
    tool = http_tool(name="look", description="Look.", effect="read", method="GET", url="https://a.example.com/x")
    runners.bind(tool.spec(), code=tool.code)
    assert isinstance(runners["http"], HttpRunner)
    with pytest.raises(SpecInvalid, match="the kind http"):
        runners.bind(tool.spec(), code=object())
    await runners.close()
