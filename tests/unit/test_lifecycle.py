"""What moves of versions take can be had from one place, without the rest of the package."""

import interlock.lifecycle


def test_every_name_is_there() -> None:
    assert all(getattr(interlock.lifecycle, name) is not None for name in interlock.lifecycle.__all__)
