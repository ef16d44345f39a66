"""`lagrangian`: trees under side rows by a bound and an exact end. A guide.

Read first `plain.py`: the whole algorithm in plain Python. The engine does the same with `dp` for
the lowest tree, sets of rows as bits, and compiled lists of vectors.

With a multiplier for each side row, violations are paid for instead of forbidden, so the problem has
no side rows left and its optimum is a bound::

    dual.maximise       the multipliers with the best bound                   one run of `dp` each
      incumbent.offer   the tree of a run, and the same tree with other actions of its leaves: is
                        one feasible and better?                    O(K^(leaves / 2)) labellings
    closing.close       targets between bound and incumbent, in rising steps, until they meet
      vectors.below     optimal prices of both sides of every test          O(F² n/16) bytes a set
      vectors.vectors   all vectors (cost, totals) of trees whose price fits: sums of the lists of
                        both sides, of equal totals the cheapest
      cheapest_pair     the cheapest feasible sum of two lists, at the root
      Reader            the tree behind a vector

n rows, F tests, K actions. In the order of reading, with what each file may touch:

1. `plain.py`: nothing of the others.
2. `multipliers.py`: exact multipliers, the view at them, and the bound that follows.
3. `incumbent.py` (the best tree and bound), `dual.py` (the best multipliers).
4. `closing.py`, `vectors.py`: targets, and lists of vectors for sets of rows.
5. `tables.py`, `vector_kernels.py`: tables and sorted lists of vectors; `kernels.py`: values and sums
   from the arrays of `dp`. Compiled.
6. `method.py`: a run; `priced.py`: claims for its proof; `warm.py`: compiling it.
7. `bounding.py`: multipliers, bound and tree for hypergraphs within a bound (`engines.hypergraph`).
"""
