"""The part of the hypergraph of states that bounds leave over: all trees within a slack."""
