"""Names that Kubernetes takes: of label keys, of objects, of entries of a ConfigMap."""

from __future__ import annotations

from hypothesis import strategies as st

_INSIDE = "aZ09-_."
_ENDS = "aZ09"

label_names = st.one_of(
    st.sampled_from(("and", "AND", "In", "true", "cluster", "need_gpu", "ENVIRONMENT", "9", "a.b")),
    st.builds(
        lambda first, inside, last: first + inside + last,
        st.sampled_from(_ENDS),
        st.text(_INSIDE, max_size=61),
        st.sampled_from(_ENDS),
    ),
)
"""What stands behind the prefix of a label key, or alone."""

layer_names = st.lists(
    st.one_of(
        st.sampled_from(("a", "imdb-1", "0", "1", "not", "x" * 63)),
        st.builds(lambda inside: f"a{inside}9", st.text("a0-", max_size=10)),
    ),
    min_size=1,
    max_size=3,
).map(".".join)
"""Names of objects: DNS subdomains."""

label_keys = st.one_of(
    label_names, st.builds(lambda *parts: "/".join(parts), layer_names, label_names)
)
"""Keys of labels, with a prefix or without."""

value_keys = st.text(_INSIDE, min_size=1, max_size=20).filter(
    lambda key: key != "." and not key.startswith("..")
)
"""Entries of a ConfigMap."""

NO_NAMES = (
    *("", ".", "..", "../x", "a/../b", "/etc", "a/b/c", "a\0b", "a\nb", "a b", "x" * 2_000),
    *(
        "st\u043ere",
        "store\u200b",
        "\ufb01sh",
        "\uff53tore",
        "a\\b",
        "~root",
        "c:x",
        "a/",
        "/a",
        "a=b",
    ),
)
"""What is none of these: paths, control characters, look-alikes of letters, too much."""
