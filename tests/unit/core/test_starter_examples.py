"""The examples of a new project can be read."""

from interlock.core.starter_examples import STARTER_EXAMPLES
from interlock.importers.examples import read_examples


def test_they_are_examples_of_both_tools() -> None:
    assert {each.tool for each in read_examples(STARTER_EXAMPLES).examples} == {"read_note", "save_note"}
