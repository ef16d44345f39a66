"""Models: frozen, solver-free predictors, how they draw and export themselves."""
