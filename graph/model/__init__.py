"""The nouns. Frozen values, no I/O, no clock, no framework."""
