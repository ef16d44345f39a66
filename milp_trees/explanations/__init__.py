"""Why there is no model: which of the user's constraints conflict, and what would help."""
