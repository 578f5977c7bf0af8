"""The worker that turns changes into GitOps overlays, and the house's one reader of YAML.

``canonical`` is here because files of commands and printed answers need it. The worker, its
plans, templates, formats and publishers are still to come.
"""
