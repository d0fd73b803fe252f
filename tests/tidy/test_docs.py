"""Documents are held to links that lead somewhere and to examples that are part of a file that runs."""

from pathlib import Path

import pytest

from tests.tidy.docs import LINK, ROOT, broken_links, failing_examples, main, unproved_examples, untyped_examples


@pytest.mark.parametrize(
    ("link", "broken"),
    [
        ("[a](docs/a.md)", False),
        ("[a](docs/a.md#how-it-works)", False),
        ("[a](/docs/a.md)", False),
        ("[a](#top-of-it)", False),
        ("[a](https://example.org/nothing)", False),
        ("`[a](docs/b.md)`", False),
        ("```\n[a](docs/b.md)\n```", False),
        ("[a](docs)", False),
        ("[a](docs/b.md)", True),
        ("[a](docs/a.md#nothing)", True),
        ("[a](#nothing)", True),
        ("[a](../outside.md)", True),
        ("[a]\n\n[a]: docs/b.md", True),
        ("![a](picture.png)", True),
    ],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, link: str, broken: bool) -> None:
    root = tmp_path / "project"
    _write(root / "docs" / "a.md", "# A\n## How it `works`!\n")
    _write(tmp_path / "outside.md", "x")
    document = _write(root / "README.md", f"# Top of it\n{link}\n")
    assert bool(list(broken_links(document, root=root))) == broken


def test_both_readmes_lead_to_the_same_places() -> None:
    here, there = "README.md", "README.zh-CN.md"
    linked = {
        name: {each["target"] for each in LINK.finditer((ROOT / name).read_text("utf-8"))} for name in (here, there)
    }
    assert linked[here] - {there} == linked[there] - {here}


def test_an_example_is_part_of_the_file_that_is_named_above_it(tmp_path: Path) -> None:
    _write(tmp_path / "docs_src" / "a.py", "import os\n\nprint(os.name)\n")
    block = "<!-- docs_src/{name}.py -->\n```python\nprint({text})\n```\n"
    document = _write(tmp_path / "README.md", block.format(name="a", text="os.name"))
    assert not list(unproved_examples(document, root=tmp_path))
    for name, text in (("a", "os.sep"), ("b", "os.name")):
        _write(document, block.format(name=name, text=text))
        assert list(unproved_examples(document, root=tmp_path))


def test_an_example_that_names_no_file_is_a_fault(tmp_path: Path) -> None:
    document = _write(tmp_path / "README.md", "text\n```python\nprint(1)\n```\n```sh\nls\n```\n")
    assert len(list(unproved_examples(document, root=tmp_path))) == 1


def test_an_example_that_fails_is_a_fault(tmp_path: Path) -> None:
    example = _write(tmp_path / "docs_src" / "a.py", "from pathlib import Path\nPath('left').touch()\n")
    assert not list(failing_examples(tmp_path))
    _write(example, "raise SystemExit(3)\n")
    assert list(failing_examples(tmp_path))
    assert not (tmp_path / "left").exists()


def test_an_example_that_is_badly_typed_is_a_fault(tmp_path: Path) -> None:
    _write(tmp_path / "docs_src" / "a.py", "x: int = 'a'\n")
    assert list(untyped_examples(tmp_path))


def test_the_command_fails_where_there_is_a_fault(tmp_path: Path) -> None:
    document = _write(tmp_path / "CONTRIBUTING.md", "```python\nnot_an_example()\n```\n")
    assert main(tmp_path) == 0
    _write(document, "[a](nowhere.md)")
    assert main(tmp_path) == 1


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
