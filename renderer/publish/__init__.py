"""Where rendered files go: a git repository, a directory, and OCI artifacts made of either."""
