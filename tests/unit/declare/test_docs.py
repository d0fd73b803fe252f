"""Docstrings are read in the three common forms, and never fail to be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.declare.docs import read_docs

GOOGLE = """Save a draft.

    Overwrites what
    was there.

    Args:
        draft_id: Which draft.
        content (str, optional): The text:
            all of it.

    Returns:
        draft: not a parameter
    """
NUMPY = """Save a draft.

    Overwrites what was there.

    Parameters
    ----------
    draft_id : str
        Which draft.
    content : str, optional
        The text: all
        of it.

    Returns
    -------
    str
        The id.
    """
SPHINX = """Save a draft.

    Overwrites what was there.

    :param draft_id: Which draft.
    :param str content: The text: all of it.
    :returns: The id.
    """


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX])
def test_description_and_parameters_are_found(text: str) -> None:
    docs = read_docs(text)
    assert docs.description == "Save a draft.\n\nOverwrites what was there."
    assert docs.parameters == {"draft_id": "Which draft.", "content": "The text: all of it."}


def test_prose_with_colons_stays_prose() -> None:
    docs = read_docs("Search.\n\nMatches: words, not meanings.\nNote that it is slow.")
    assert docs.description == "Search.\n\nMatches: words, not meanings. Note that it is slow."
    assert docs.parameters == {}


def test_no_docstring_says_nothing() -> None:
    assert read_docs(None).description == ""


@given(st.text(alphabet="Args:\n -xyz()*", max_size=200))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    read_docs(text)
