"""`scripts/bench [--json] [--scale] [CASE ...]`: measures, prints a table; exits with 1 where a limit does not hold."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine

from benchmarks import codecs, finding, gates, postgres, runs, scale, startup
from benchmarks.harness import Measured

CASES: dict[str, Callable[[], Coroutine[None, None, Measured]]] = {
    "read": gates.warm_read,
    "read-new-value": gates.new_value_read,
    "write": gates.one_write,
    "writes-64": gates.concurrent_writes,
    "reads-64": gates.concurrent_reads,
    "parallel-8": gates.parallel_reads,
    "pg-write": postgres.one_write,
    "pg-writes-64": postgres.concurrent_writes,
    "run-memory": runs.in_memory,
    "run-sqlite": runs.durable,
    "run-growth": runs.growth,
    **codecs.CASES,
    **finding.CASES,
    "import": startup.import_time,
    "first-call": startup.first_call,
}


HEAD = f"{'case':44}{'value':>12} {'unit':8}{'floor':>10}{'ratio':>9}{'limit':>9}{'aim':>9}  ok"


def main(arguments: list[str]) -> int:
    """Run the named cases, or all."""
    as_json = "--json" in arguments
    names = [each for each in arguments if not each.startswith("-")] or list(CASES)
    if "--scale" in arguments:
        return asyncio.run(_scale(as_json=as_json))
    unknown = [name for name in names if name not in CASES]
    if unknown:
        print(f"no such case: {unknown[0]}; there are {', '.join(CASES)}", file=sys.stderr)
        return 2
    if not as_json:
        print(HEAD)
    all_ok = True
    for name in names:
        if name.startswith("pg-") and postgres.MISSING:
            print(f"{name} is left out: {postgres.MISSING}", file=sys.stderr)
            continue
        measured = asyncio.run(CASES[name]())
        all_ok = all_ok and measured.ok
        print(json.dumps(measured.to_json()) if as_json else _row(measured), flush=True)
    return 0 if all_ok else 1


async def _scale(*, as_json: bool) -> int:
    """What size changes; minutes long."""
    if not as_json:
        print(HEAD)
    all_ok = True
    async for measured in scale.cases():
        all_ok = all_ok and measured.ok
        print(json.dumps(measured.to_json()) if as_json else _row(measured), flush=True)
    return 0 if all_ok else 1


def _row(measured: Measured) -> str:
    floor = "-" if measured.floor is None else f"{measured.floor:.3f}"
    ratio = "-" if measured.ratio is None else f"{measured.ratio:.2f}x"
    judged = f"{measured.case:44}{measured.value:12.3f} {measured.unit:8}{floor:>10}{ratio:>9}"
    return f"{judged}{measured.limit:>9g}{measured.aim:>9g}  {'yes' if measured.ok else 'NO'}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
