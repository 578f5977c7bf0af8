"""Overlays: a configuration becomes files, stated on a base or rendered from a template."""
