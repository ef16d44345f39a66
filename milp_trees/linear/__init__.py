"""A linear program as a file that all solvers read in the same way."""
