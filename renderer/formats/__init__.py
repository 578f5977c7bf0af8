"""How each reconciler is told what to run: one module for each."""
