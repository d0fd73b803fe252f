"""What goes over the wire in each dialect is as its golden table says."""

import pytest

from tests.golden import check_golden
from tests.unit.models.golden_requests import DIALECTS, table


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_sent_and_read_is_as_the_golden_table_says(name: str) -> None:
    check_golden(f"wire_{name.replace('-', '_')}.txt", "\n".join(table(name)) + "\n")
