"""What an effective state weighs, in a process of its own: what ``workloads`` runs as a child.

Resident memory added by working the state out, the index being there. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys

from bench.ready import resident_bytes, trimmed_bytes
from bench.workload_view import workload_view
from graph.effective.state import begin


def main(clusters: str, applications: str) -> None:
    """Work the state out once and look at the memory."""
    view = workload_view(int(clusters), int(applications))
    before = trimmed_bytes()
    state = begin(view)
    after = resident_bytes()
    assert state.placements, "there is a workload"
    print(json.dumps({"added": after - before, "trimmed": trimmed_bytes() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
