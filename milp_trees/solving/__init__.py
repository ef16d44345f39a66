"""One problem asked: the solution, its size, gap and thresholds, and what a stored one predicts."""
