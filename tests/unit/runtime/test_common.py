"""What desks of the catalogue have in common: versions by name, and changes that are seen at once."""

import pytest

from interlock.core.errors import ToolUnknown
from tests.agents import WHY, searches
from tests.gates import OPERATOR, opened


async def test_a_version_is_found_by_its_name_and_number_and_said_to_be_none_where_there_is_none(
    gate_path: str,
) -> None:
    async with opened(gate_path, searches("1", "2")) as gate:
        common = gate.catalogue._moving._common
        assert [each.version for each in await common.versions("search", tenant="acme")] == ["1", "2"]
        assert (await common.version("search", "2", tenant="acme")).version == "2"
        for name, version in (("search", "3"), ("nope", "1")):
            with pytest.raises(ToolUnknown, match=f"no version '{version}' of a tool named '{name}'"):
                await common.version(name, version, tenant="acme")


async def test_what_one_desk_has_changed_every_other_sees_at_once(gate_path: str) -> None:
    async with opened(gate_path, searches("1", "2")) as gate:
        await gate.catalogue.promote("search", "1", by=OPERATOR, reason=WHY)
        assert gate.catalogue.get("search").spec.version == "1"
        await gate.catalogue.freeze("search", version="1", by=OPERATOR, reason=WHY)
        assert gate.catalogue.get("search").state == "frozen"
        assert [each.state for each in await gate.catalogue.list_versions("search")] == ["frozen", "available"]
