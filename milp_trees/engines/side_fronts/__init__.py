"""Parts of the engine `side-fronts`: compiled fronts of cost and totals, and the search."""
