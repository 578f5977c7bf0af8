"""The core: the business as hierarchies, selectors over it, its record and its index.

No HTTP, no GraphQL, no YAML. docs/architecture.md draws the floors.
"""
