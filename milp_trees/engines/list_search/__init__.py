"""Exact search for rule lists over the sets of rows that are not captured yet: method `dp-lists`.

`bits` has sets of rows as words, and a table of them; other searches for lists use it too.
"""
