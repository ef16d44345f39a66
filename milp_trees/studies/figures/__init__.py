"""Figures of studies and of Pareto fronts."""
