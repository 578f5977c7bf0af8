"""Side-by-side measurements: each claim of speed or size, beside what it is compared with."""
