"""Subscriptions: one execution for all who ask the same, over sockets and event streams."""
