"""The ``trellis`` command: settings, wiring, and one file per family of verbs."""
