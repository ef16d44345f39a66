"""Models: frozen predictors that need no solver, with their drawings and exports."""
