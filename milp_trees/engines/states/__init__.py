"""All sets of rows that subtrees can see, as a hypergraph."""
