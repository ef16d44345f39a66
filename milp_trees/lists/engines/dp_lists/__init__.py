"""dp_lists."""
