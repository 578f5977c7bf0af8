"""Four queries worth pasting: counts, one cluster explained, time travel, and what is in git."""

from __future__ import annotations

from typing import Final

QUERIES: Final = (
    (
        "how many by region, and by franchise the ten largest of bucketCount: one round trip",
        """{
  fleet {
    revision
    clusters(where: {saved: "seed-sentence"}) { totalCount }
    facets(
      where: {text: "/geo/us and size = large and lanes >= 2"}
      by: [{group: "/geo/us"}, {group: "/franchise"}]
    ) { group bucketCount buckets(orderBy: COUNT, first: 10) { value count share } }
    crossTab(
      where: {text: "/geo/us and size = large and lanes >= 2"}
      rows: {group: "/geo/us"}
      columns: {group: "/devices/grill"}
    ) { rows columns counts }
  }
}""",
    ),
    (
        "some clusters of the answer, and why another is not in it",
        """{
  fleet {
    clusters(where: {text: "/geo/us/northeast and /devices/grill/acme/acme3000"}, first: 3) {
      nodes { name place(hierarchy: "franchise") lanes: label(key: "lanes") }
      pageInfo { endCursor hasNextPage }
    }
    explain(cluster: "us-northeast-ny-city003-00007", where: {saved: "seed-sentence"}) {
      summary
      reasons { depth holds text fact }
      nearest
    }
  }
}""",
    ),
    (
        "the fleet as it was at its first revision, beside what it is",
        """{
  before: fleet(asOf: 1) { revision clusters { totalCount } }
  now: fleet { revision clusters { totalCount } }
  changesets(first: 3) { nodes { revision at actor reason changeCount } }
}""",
    ),
    (
        "what the newest store runs, with which values, and whether all of that is in git",
        """{
  fleet {
    cluster(name: "us-northeast-ny-buffalo") {
      effective { applications { name status configuration values lateBound { key value } } }
    }
  }
  publications { name revision commit behind held { application reason message } }
}""",
    ),
)
"""Each with a line that says what it shows."""
