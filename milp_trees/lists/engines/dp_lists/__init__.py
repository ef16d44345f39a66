"""The core of `dp-lists`: best-first search over the rows that no rule captures yet. A guide.

Read first `plain.py`: the whole search in plain Python. The compiled search is the same with the
same names, on words of 64 rows, with many tables of lower bounds that are made where they are
needed.

What happens to the prefix with the smallest bound::

    kernels.search      the smallest waiting prefix, or the next one of a descent   O(log prefixes)
      kernels._visit    bounds of all tables; a new table if work is left for one   O(tables)
      kernels._expand   every antecedent becomes the next rule                      O(M)
        tables.rejected   a few tables say at once that nothing comes of it         O(1) look-ups
        bits.add_up       sums over the captured rows and over the rest             O(n/8) look-ups
        tables.bound_after, kernels._insert   a bound on the child; it waits        O(tables, n/64)

n rows, M antecedents. A sum over a set is one look-up per byte of it, a bound one per table.

In the order of reading, with what each file may touch:

1. `plain.py`: nothing of the others.
2. `records.py`: the arrays by name; `switches.py`: the options.
3. `kernels.py`: the search. It changes prefixes and their heap, and asks 4 for bounds.
4. `tables.py` (the problem on a few rows, for all subsets of them), `bits.py` (sums over sets);
   sets as words and their table are in `engines/kit/rowsets.py`.
5. `search.py`: from a view to the arrays, memory, limits, value and list; `lengths.py`: searches
   for shorter lists beside it; `method.py`: the method.
6. `proofs.py`: claims that prove a bound on all lists. It uses none of the others.

Sets of near-optimal lists (`near_best_lists`) use 2 to 5 with kernels of their own.
"""
