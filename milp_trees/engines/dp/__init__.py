"""The core of `dp`: exact search over sets of rows. A guide.

Read first `plain.py`: the whole recursion in plain Python. The compiled search is the same recursion
with the same names, on bit sets, without calling itself, and with bounds that save work.

What happens at a set of rows that is asked for with a depth and a budget::

    descent.run         the level of the stack that is at work, until the root is answered
      entering.enter    leaf, table, similar sets: an answer at once?          O(n), O(archive n/64)
        depth 3:        depth_three, every root test by `pair`                 O(F) kernel calls
        deeper:         keys of all children, root tests in order              O(F n/64)
      descent._try      both sides of the next root test: bounds from the table, look-ahead and
                        similar sets; the first side becomes the next level    O(n/64)
      descent._back     a side is answered: the other side, or the next test
      descent._close    all tests tried: into the table and the archive
    nodes.load          pairs of tests counted on all rows of a node           O(F² n/8) bytes
    nodes.pair          the best trees of depth two on both sides of a test: the smaller side is
                        counted, the other one is what is left                 O(F² n/16) bytes

n rows, F tests; the compiled kernels work on 32 bytes at a time.

In the order of reading, with what each file may touch:

1. `plain.py`: nothing of the others.
2. `arrays.py`: from a view to the arrays; numbers and arrays of all records are in `layouts.py`.
3. `entering.py`, `descent.py`, `depth_three.py`: the search. They change levels of the stack, and
   rows, table and archive only through 4.
4. `nodes.py` (rows and sums of one node), `memory.py` (table of solved sets, archive of similar
   ones), `gains.py` (order of tests), `words.py` (sets as words).
5. `extract.py`: the tree behind a value; `shallow.py`: depths up to two.
6. `runs.py`: threads, limits, deepening, incumbents and bounds; `buffers.py`: the memory of a run;
   `warm.py`: compiling it. What `dp` makes of it is in `run.py` and `method.py`. `optimum.py`:
   values of sets on demand, for other engines and for `proofs/`.
7. `contexts.py`: how compiled code reads a record by name. `pair_layout.py`, `pair_sums_code.py`,
   `pair_values_code.py`, `pair_counts.py`: the kernels as vector code (`compiling/vectors.py`).

`by_leaves/` (for `dp-sizes`, and with prices for `dp-paid`) uses 2, 4 and 7 with a search of its own;
`near_best` uses `optimum.py`. `switches.py` names the bounds that can be switched off;
`benchmarks/switches.py` measures what each is worth.
"""
