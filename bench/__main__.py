"""``python -m bench [benchmark ...]``: measure, keep the results, write the tables anew."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence

from bench import facets, fanout, graphql, load, past, render, selectors, start, updates, workloads
from bench.report import shown, update
from bench.result import record, write
from bench.scale import FULL, QUICK, Measured, Scale

BENCHMARKS: dict[str, Callable[[Scale], Measured]] = {
    "load": load.run,
    "selectors": selectors.run,
    "updates": updates.run,
    "facets": facets.run,
    "start": start.run,
    "past": past.run,
    "graphql": graphql.run,
    "fanout": fanout.run,
    "workloads": workloads.run,
    "render": render.run,
}
"""In this order: the stores that ``load`` fills serve those after it."""


def main(words: Sequence[str] | None = None) -> None:
    """Run what was asked for, or everything."""
    options = _options(words)
    chosen = [name for name in BENCHMARKS if not options.names or name in options.names]
    for name in chosen:
        load_before = os.getloadavg()[0]
        started = time.perf_counter()
        print(f"{name} ...", flush=True)
        measured = BENCHMARKS[name](QUICK if options.quick else FULL)
        print("\n".join(shown(measured.rows)))
        print("\n".join(f"  # {note}" for note in measured.notes))
        print(f"{name}: {time.perf_counter() - started:,.0f} s\n", flush=True)
        if not options.quick:
            write(record(name, measured.rows, notes=measured.notes, load_before=load_before))
            update()


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="benchmark", help=", ".join(BENCHMARKS))
    parser.add_argument(
        "--quick", action="store_true", help="small fleets, no Neo4j, nothing is kept"
    )
    options = parser.parse_args(words)
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark called {name}; there are {', '.join(BENCHMARKS)}")
    return options


if __name__ == "__main__":
    main()
