"""What is dear, in numbers: the tables that costs are worked out from.

One is what a plain field costs graphql-core, some five microseconds. What a field does besides is
charged in the same coin, so that the dearest operation allowed takes about a second.
"""

from __future__ import annotations

from typing import Final

LIST_SIZE: Final = 10
"""What a list counts as that nobody pages."""
SIZES: Final = {
    "Facet.buckets": 20,
    "Explanation.reasons": 20,
    "__Schema.types": 150,
    "__Schema.directives": 10,
    "__Type.fields": 20,
    "__Type.inputFields": 20,
    "__Type.enumValues": 20,
    "__Type.interfaces": 2,
    "__Field.args": 2,
    "__Directive.args": 2,
}
"""Lists that are usually longer or shorter; those of the schema as long as they are there."""
OF_EACH: Final = {"__Schema.types": 2}
"""What the lists right inside count as where all are listed: most types have little in them."""
AS_OF: Final = 5_000
"""What an earlier revision costs."""
CHARGES: Final = {
    "history": 1_500,
    "historyOfGone": 1_500,
    "since": 1_500,
    "Query.changesets": 1_500,
    "Fleet.crossTab": 5_000,
    "Cluster.savedSelectors": 20,
}
"""What fields cost by themselves that read the store, or work out far more than they show."""
FACET: Final = 200
"""What each dimension of a count costs."""
EARLIER: Final = ("asOf", "from", "to")
"""Arguments that name an earlier revision."""
PREVIEWS: Final = frozenset({"preview", "previewRevert"})
PREVIEWS_MAX: Final = 1
"""Dry runs in one operation."""
TREE_ROWS: Final = (100, 100, 250, 1_250, 6_250, 31_250)
"""Rows a tree counts as by its depth; a deeper one as the last, or what a request may have."""
