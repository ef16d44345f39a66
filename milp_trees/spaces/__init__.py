"""Which models are allowed."""
