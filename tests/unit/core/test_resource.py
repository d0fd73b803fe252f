"""A resource has one name within a tenant."""

from interlock.core.resource import Resource


def test_the_name_is_type_and_id_whatever_the_version() -> None:
    assert Resource("Draft", "a/b", "7").name == Resource("Draft", "a/b").name == "Draft/a/b"
