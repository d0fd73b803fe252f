"""Starts worker processes on one store, kills them, and looks at what is left. Only processes that it started die."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from interlock.core.chain import Break
from interlock.core.journal import AuditQuery
from tests.crash.judge import Judge, JudgedWorld
from tests.crash.kill_worker import live, opened
from tests.forked import PROCESSES
from tests.simulation.people import TENANT
from tests.simulation.verdict import Facts, Left, verdict
from tests.simulation.world import Stage

Live = Callable[..., None]
"""What a worker process does: it is given where to say that it begins, its folder, and its number."""

LIFE_S = 30
"""Longer than any worker lives."""


@dataclass(frozen=True)
class Worker:
    """A worker process that has begun."""

    process: BaseProcess

    @staticmethod
    def start(folder: Path, *, life: int, kill_at: int | None = None, live: Live = live) -> "Worker":
        """One life, which ends at that durable point if it has so many."""
        begun, begins = PROCESSES.Pipe(duplex=False)
        process = PROCESSES.Process(target=live, args=(begins, folder, life), kwargs={"kill_at": kill_at})
        process.start()
        begins.close()
        with begun:
            begun.recv()
        return Worker(process)

    def ends(self) -> bool:
        """Wait until it has ended; whether it was killed. What else may have ended it is a fault."""
        self.process.join(LIFE_S)
        assert self.process.exitcode in (0, -signal.SIGKILL)
        return self.process.exitcode != 0

    def is_killed(self, *, after_s: float) -> bool:
        """Kill it after this time, if it still lives; whether it was killed."""
        self.process.join(after_s)
        self.process.kill()
        return self.ends()


async def aftermath(folder: Path) -> tuple[Facts, Left]:
    """What is left once a process has started again and recovered."""
    judge = Judge(folder / "judge.db")
    Stage.world = JudgedWorld(judge, seed=0)
    # No reaper: it would change between two reads what is looked at here.
    async with opened(folder, reap_every_s=0) as (gate, store):
        await gate.recovery.recover()
        verified = await gate.audit.verify()
        records = await store.records(AuditQuery(limit=1_000_000))
        left = Left(
            records,
            await store.open_calls(),
            await store.usage(TENANT),
            await store.approvals(TENANT),
            verified if isinstance(verified, Break) else None,
        )
    return judge.facts(records), left


async def check(folder: Path) -> None:
    """Nothing is wrong with what is left, and there was something that could have been."""
    facts, left = await aftermath(folder)
    wrong = verdict(facts, left)
    assert not wrong, "\n".join(wrong)
    assert facts.effects
