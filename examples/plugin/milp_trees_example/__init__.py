"""Plug-ins for milp-trees: see the files."""
