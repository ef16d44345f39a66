"""Formulations as Pyomo models, solvers, and the processes in which they run."""
