"""Golden files: what a reviewer should see change, kept as text in `tests/golden/`.

`check_golden("refusals.txt", text)` compares; `INTERLOCK_GOLDEN=update scripts/test PATH` rewrites, and the
change shows in the diff of the commit. No test stands in that folder: pytest would import it in place of this file.
"""

import difflib
import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "golden"


def check_golden(name: str, text: str, *, folder: Path = FOLDER) -> None:
    """Fail with a diff unless `text` is what the golden file holds."""
    path = folder / name
    if os.environ.get("INTERLOCK_GOLDEN") == "update" and not os.environ.get("CI"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return
    golden = path.read_bytes().decode() if path.exists() else ""
    if not path.exists() or golden != text:
        raise AssertionError(_difference(name, golden=golden, text=text))


def _difference(name: str, *, golden: str, text: str) -> str:
    lines = difflib.unified_diff(golden.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm="")
    rewrite = "If the change is meant, run the test again with INTERLOCK_GOLDEN=update and commit the file."
    return "\n".join([f"{name} is not what its golden file holds.", *lines, rewrite])
