"""The hypergraph of all sets of rows that a rule list can leave to its later rules."""
