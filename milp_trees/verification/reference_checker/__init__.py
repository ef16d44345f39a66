"""A second checker of proofs, which shares no code with the first: `milp-trees check --slowly`."""
