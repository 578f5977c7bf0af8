"""The GraphQL door over the engine: schema, HTTP view, subscriptions, identity, export.

Nothing lives here yet. It will hold the thin rim that turns requests into engine calls.
"""
