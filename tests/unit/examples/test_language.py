"""The language of the terminal is read as programs read it."""

import pytest
from language import reader_language


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "c"),
        ({"LANG": "C", "LC_MESSAGES": "ZH-hant"}, "zh"),
        ({"LC_ALL": "", "LANG": "zh"}, "zh"),
        ({}, ""),
    ],
)
def test_the_more_particular_variable_wins(environment: dict[str, str], language: str) -> None:
    assert reader_language(environment) == language
