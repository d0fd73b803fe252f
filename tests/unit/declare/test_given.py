"""What is given to open a gate is refused with a sentence where it is something else."""

from pathlib import Path
from typing import Any

import pytest

from interlock import PolicySource, tool
from interlock.core.errors import SettingsInvalid, SpecInvalid
from interlock.declare.given import (
    is_declared,
    read_policies,
    refuse_text_for_folder,
    refuse_unknown,
    refuse_unlike,
    sources_of,
    tools_of,
)

SOURCE = PolicySource("all", "permit (principal, action, resource);")


def plain() -> None:
    """No tool."""


@tool(effect="read")
def act() -> str:
    """Act."""
    return ""


def test_tools_are_any_collection_of_declared_ones() -> None:
    assert tools_of([act]) == tools_of(iter([act])) == tools_of({act}) == (act,)


def test_a_tool_of_any_kind_is_known_and_its_class_is_none() -> None:
    assert is_declared(act)
    assert not any(is_declared(each) for each in (plain, type(act), act.spec(), None))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (act, r"such as tools=\[act\]"),
        ([act, plain], "plain, which is no tool: put @tool"),
        ([act.spec()], "ToolSpec, which is no tool"),
        (["act"], "str, which is no tool"),
        (3, "tools is a collection"),
    ],
)
def test_what_is_no_tool_is_refused_by_name(given: Any, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        tools_of(given)


def test_policies_are_one_source_or_any_collection_of_them() -> None:
    assert sources_of(SOURCE) == sources_of([SOURCE]) == sources_of(iter([SOURCE])) == (SOURCE,)
    assert sources_of(()) == ()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["permit (principal, action, resource);"], r"holds a str.*PolicySource\(\"name\""),
        ([Path("policies/all.cedar")], "policies='policies'"),
        (3, "holds a int"),
        ([SOURCE, None], "holds a NoneType"),
    ],
)
def test_what_is_no_policy_is_refused_with_what_one_looks_like(given: Any, says: str) -> None:
    with pytest.raises(SettingsInvalid, match=says):
        sources_of(given)


def test_a_text_of_policies_is_no_folder() -> None:
    with pytest.raises(SettingsInvalid, match=r"names a folder; give policies=\[PolicySource"):
        refuse_text_for_folder("permit (principal, action, resource);")
    refuse_text_for_folder("policies/permits")
    refuse_text_for_folder(Path("permit (x)"))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("limits", r"no option 'limits'; give settings=Settings\(limits=...\)"),
        ("facts", r"give host=Host\(facts=...\)"),
        ("secrets", r"give settings=Settings\(secrets=...\) or host=Host\(secrets=...\)"),
        ("colour", "no option 'colour'; it takes a path, tools, policies"),
    ],
)
def test_an_option_that_opening_does_not_have_is_refused_with_where_it_belongs(name: str, says: str) -> None:
    with pytest.raises(SettingsInvalid, match=says):
        refuse_unknown({name: 1}, homes={"Settings": ("limits", "secrets"), "Host": ("facts", "secrets")})
    refuse_unknown({}, homes={})


def test_what_is_not_of_its_kind_is_refused_by_name() -> None:
    refuse_unlike({"settings": (None, str | None), "host": ("x", str)})
    with pytest.raises(SettingsInvalid, match=r"settings takes Settings\(...\), not a dict"):
        refuse_unlike({"settings": ({}, str | None)})


def test_a_folder_without_policies_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="interlock init"):
        read_policies(tmp_path)
