"""The worker that turns changes into GitOps overlays, and the house's one reader of YAML.

It follows what runs where, plans against what is already published, and publishes exactly what
differs: output and cursor together. Nobody here asks which clusters; that was answered before.
"""
