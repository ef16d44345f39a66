"""A library of model files: problems × formulations, each with its optimum and who proved it."""
