"""The system of record: a port with promises, and its two adapters."""
