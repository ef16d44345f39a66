"""The best trees of every number of leaves."""
