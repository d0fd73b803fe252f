"""What is pinned can be installed on the oldest Python that is promised, not only on the one it was pinned with."""

import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.upstreams.servers import installed

ROOT = Path(__file__).resolve().parents[2]
OLDEST = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=") + ".0"


def too_new(packages: list[Distribution]) -> list[str]:
    """Those that want a newer Python than the oldest."""
    return [
        f"{package.name} {package.version} wants Python {wanted}"
        for package in packages
        for wanted in package.metadata.get_all("Requires-Python", [])
        if OLDEST not in SpecifierSet(wanted)
    ]


def of_others() -> Iterator[Distribution]:
    """What the servers of others are made of, as far as they are installed."""
    for packages in installed().glob("venv*/lib/python3*/site-packages"):
        yield from distributions(path=[str(packages)])


def test_every_package_takes_the_oldest_python() -> None:
    here = list(distributions())
    assert len(here) > 50
    assert too_new(here) == []


def test_every_package_of_the_servers_of_others_does() -> None:
    if not (packages := list(of_others())):
        pytest.skip("the servers of others are not installed: run scripts/upstreams")
    assert too_new(packages) == []
