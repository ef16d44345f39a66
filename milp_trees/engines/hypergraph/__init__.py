"""The hypergraph of all sets of rows that subtrees can have. A guide.

A state is a set of rows with a depth left; a column is one thing that a tree can do there: stop, end
with a last split, or split into two states of the next level. A tree is a choice of one column for
each of its states, so a formulation over the columns has the tree as a flow (`state-flow`). There
are four enumerations, {trees, rule lists} x {all, within a bound}, and one kit for them::

    graph.assemble      columns of all levels as one hypergraph, `States`
      Enumeration       level by level: rooms for columns, the table of sets, limits
        TreeStates      stops of all states, splits by the tests that divide them   O(F n/64) a state
                        last level: sums by test; of two sides the smaller is summed      O(F m) bytes
        TreesWithin     the same, where optimal values of the sides fit into an allowance
        ListStates      one next state per rule (`milp_trees.lists.hypergraph`)

n rows, m of them in a state, F tests. In the order of reading:

1. `graph.py`: the result, and how it is read as a tree; which columns are left out.
2. `levels.py`: the levels, and what the kernels read of a view (`data_of`).
3. `columns.py`: compiled columns and their records `StateData`, `StateWork` and `StateColumns`. An
   allowance says what a subtree may cost; without a bound it is `FAR`.
4. `row_sets.py`: the table that numbers the sets of a level, on `engines.kit.rowsets`.
5. `within_bound.py`: trees within a bound, with optimal values from `engines.near_best`.
6. `parts.py`, `shrink.py`: parts of a hypergraph, in passes over its columns; `node_sums.py`: sums
   for constraints on nodes; `dual.py`: the dual in exact integers, and proofs from it.
"""
