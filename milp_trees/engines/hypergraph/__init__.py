"""The hypergraph of all sets of rows that subtrees can have."""
