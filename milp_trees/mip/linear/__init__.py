"""Linear programs: one sparse matrix, made from Pyomo models and written to files."""
