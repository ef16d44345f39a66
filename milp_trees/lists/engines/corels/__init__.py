"""Parts of the engine `corels`: arrays of prefixes, bounds, the compiled search, its history."""
