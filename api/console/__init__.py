"""The console at ``/``: GraphiQL where the build has fetched it, our own small page otherwise.

Both come from our own origin under a strict Content-Security-Policy: no request leaves the browser
for anywhere else. ``assets`` holds what is ours; ``graphiql`` what ``hatch_build.py`` fetched,
which is never committed.
"""
