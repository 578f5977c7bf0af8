"""Git without a work tree: objects read through one resident process, and written by us."""
