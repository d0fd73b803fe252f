"""Lets tests import the modules of an example the way the example's own program does: as neighbours."""

import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "research-agent"

if str(EXAMPLE) not in sys.path:
    sys.path.append(str(EXAMPLE))
