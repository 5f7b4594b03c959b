"""Languages: text to program, nothing else."""
