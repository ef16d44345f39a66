"""The search by leaves: best trees of every number, for `dp-sizes` and, with prices, `dp-paid`."""
