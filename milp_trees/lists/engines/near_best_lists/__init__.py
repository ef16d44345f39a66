"""All rule lists whose value is close to the best one, each set of permutations once."""
