"""A process whose run searches for tools, and that kills itself as its model is asked the third time.

`python find_worker.py STORE OFFERED`: what the model is offered then goes to the file OFFERED first.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from interlock.testing.models import Said, ScriptedModel
from tests.crash.finding import TASK, opened
from tests.gates import ALICE


async def main(store: str, offered: Path) -> None:
    """Begin the run, and die in the middle of it."""
    asked = 0

    def says(body: Mapping[str, object]) -> Said:
        nonlocal asked
        asked += 1
        if asked == 3:
            offered.write_text(json.dumps(body["tools"]), encoding="utf-8")
            os.kill(os.getpid(), signal.SIGKILL)
        return "find_tools", {"query": ("garden", "music")[asked - 1], "limit": 2}

    async with opened(store, ScriptedModel(says), tools_max=5) as gate:
        run = await gate.runs.start(model="scripted", task=TASK, principal=ALICE, run_id="r")
        await run.result()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
