"""Data: datasets, binarizers, readers and generators."""
