"""What engines share; every module has at least three users.

- `run.py`: the base of a run, from its limits to its result.
- `rowsets.py`: sets of rows as words, and the table that finds a set by its hash.
- `compile.py`: compiling once per process, and the tiny problems that cause it.

No search is here: engines that use the kit still confirm each other's answers. `dp` keeps a table
of its own, which several threads change at once, and `dp-sorted` a cache that forgets.
"""
