"""Templates rendered in a child process that may think and nothing else."""
