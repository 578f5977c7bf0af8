"""The selector language: text and structured form in, cluster sets and reasons out."""
