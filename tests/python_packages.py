"""Puts a Python package into a folder as an installer does, for tests of imported packages."""

import json
from pathlib import Path

CODE = '''
from interlock import tool

print("I run.")

@tool(effect="read", owner="acme")
def find_part(name: str) -> dict[str, str]:
    """Find a part by its name."""
    return {"part": name}

@tool(effect="write", owner="acme", key=["name"])
def order_part(name: str) -> dict[str, str]:
    """Order a part."""
    return {"ordered": name}

both = (find_part, order_part)
nothing = 7
'''
ENTRIES = {
    "find": "acme_parts:find_part",
    "both": "acme_parts:both",
    "all": "acme_parts",
    "nothing": "acme_parts:nothing",
    "missing": "acme_parts:missing",
    "elsewhere": "json:loads",
}


def install(folder: Path, *, code: str = CODE, version: str = "1.0", editable: bool = False, **more: str) -> None:
    """`acme-parts` with this code; a folder of the import path. `more` are other files of it by name."""
    about = folder / f"acme_parts-{version}.dist-info"
    for old in folder.glob("acme_parts-*.dist-info/*"):
        old.unlink()
    about.mkdir(parents=True, exist_ok=True)
    files = {
        "acme_parts.py": code,
        f"{about.name}/METADATA": f"Metadata-Version: 2.1\nName: acme-parts\nVersion: {version}\n",
        f"{about.name}/entry_points.txt": "\n".join(
            ["[interlock.tools]", *[f"{name} = {place}" for name, place in ENTRIES.items()]]
        ),
        f"{about.name}/direct_url.json": json.dumps({"dir_info": {"editable": editable}}),
        **more,
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (about / "RECORD").write_text("".join(f"{name},,\n" for name in [*files, f"{about.name}/RECORD"]))
