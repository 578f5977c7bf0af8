"""The read model: an immutable snapshot per revision, built from changes."""
