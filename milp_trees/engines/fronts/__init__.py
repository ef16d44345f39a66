"""Fronts of sets of rows: the recursion that `pareto`, `side-fronts` and `separable` share.

A *front* holds the values of those trees on a set of rows that no other tree of the set makes
superfluous. It consists of leaves, and of sums of a value for one side of a test and a value for
the other side, over all tests. `search.py` has this recursion and the way back from a value to its
tree; `rows.py` has sets of rows as bit strings, their sums, and pair counts.

So these methods do not confirm each other. What a value is, how two of them are added, and which ones are superfluous is the *algebra*, a
subclass of `FrontSearch` with compiled kernels of its own:

==============  ==========================  =====================================  ==============
method          value                       superfluous                            one call makes
==============  ==========================  =====================================  ==============
`pareto`        leaves, false positives,    larger in all three, or no better      two levels
                false negatives             than the incumbent with these errors
`side-fronts`   totals of side rows, cost   equal totals at a higher cost, or      one level
                                            totals that cannot be completed
`separable`     numbers of a task           worse in the order of the task         two levels
==============  ==========================  =====================================  ==============
"""
