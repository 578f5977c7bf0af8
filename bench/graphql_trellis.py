"""``trellis serve`` as a side: three processes that differ in what they may remember.

Texts and documents stay read in all of them, as peers keep theirs. The request rate of one caller
is not limited here; every other setting has its default.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bench.graphql_process import Server, running
from bench.stores import EmbeddedFleet, copied

NO_LIMIT = "1000000"
LOAD = {"TRELLIS_API_REQUESTS_PER_SECOND": NO_LIMIT, "TRELLIS_API_REQUESTS_BURST": NO_LIMIT}
NO_ANSWERS = {"TRELLIS_API_RESPONSES_KEPT_BYTES": "0", "TRELLIS_GRAPH_ANSWERS_KEPT_MAX": "0"}
NO_ROWS = {"TRELLIS_API_ROWS_KEPT_BYTES": "0"}

COMPUTED, WARM, REPEATED = "Trellis, computed", "Trellis, warm rows", "Trellis, repeated"
MEMORY: Mapping[str, Mapping[str, str]] = {
    COMPUTED: {**NO_ANSWERS, **NO_ROWS},
    WARM: NO_ANSWERS,
    REPEATED: {},
}


@contextmanager
def trellis(fleet: EmbeddedFleet, settings: Mapping[str, str]) -> Iterator[Server]:
    """A process over a copy of ``fleet``, since one process at a time writes a store file."""
    own = copied(fleet)
    environment = {
        "TRELLIS_STORE_URL": f"sqlite:///{own.path}",
        "TRELLIS_STORE_SNAPSHOT_FILE": str(own.snapshot),
        "TRELLIS_API_PORT": "0",
        **LOAD,
        **settings,
    }
    with running([sys.executable, "-m", "cli.main", "serve"], environment) as server:
        yield server
