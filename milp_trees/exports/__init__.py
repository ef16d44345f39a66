"""Models in other languages and formats: one file and one registered class per format."""
