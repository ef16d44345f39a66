"""The engine `separable`: exact search for any task that is stated by its six parts. A guide.

Read first `plain.py`: the whole recursion in plain Python. A *state* is a set of rows with a context,
and its *values* are those that no other tree of the state beats. The search is the same recursion
on bit strings, with the parts of the task compiled into its kernels::

    method.run          a run: depth 0, then 2, then the whole depth
      total order         search.best      one value: the table, then look at two levels, then splits
      partial order       fronts.front     a front of values (the recursion of `engines/fronts`)
        depth up to 2:    counted          sums of all tests, or of all pairs       O(F² W)
                          one_level, two_levels    all trees from these sums alone  O(F²) values
        deeper:           splits, sides    every test, both sides with their contexts
      tree                the way back from a value to its tree

F tests, W words of 64 rows; rows with equal statistics share words. The result is the same if numba
cannot compile a part: then all kernels run as plain Python.

In the order of reading:

1. `plain.py`: nothing of the others. The six parts are explained in `tasks/states_view.py`.
2. `states.py`: states of a view, their splits and sums, on `fronts/rows.py`.
3. `search.py`: one best value for each state, below a bound if values only add up.
   `fronts.py`: a front for each state, on `fronts/search.py`.
4. `total.py`, `partial.py`: the kernels of both for the last two levels, written for one task.
5. `parts.py`: the parts of a task as functions that kernels can call, with their defaults.
6. `losses.py`: the parts of a task whose leaves cost a function of sums.
7. `method.py`: limits, incumbents and the bound.
"""
