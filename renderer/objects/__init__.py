"""Objects that are written for every fleet: of namespaces, settings, and what marks them."""
