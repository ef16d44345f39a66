"""Problem × formulation as a model file, and the solution of one by another program."""
