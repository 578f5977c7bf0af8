"""How an operation becomes an answer: read, measured, planned, executed."""
