"""`python -m milp_trees`: the command line, where the script `milp-trees` is not on the path."""

from milp_trees.cli import main

if __name__ == "__main__":
    main()
