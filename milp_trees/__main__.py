"""`milp-trees`, the script, and `python -m milp_trees`: the command line.

Loading it takes a moment. A Ctrl-C in that moment ends the program with one sentence instead of
the traceback of the import that was under way.
"""

import gc

from milp_trees.cli.signals import leave_at_once


def main() -> None:
    """Entry point of `milp-trees`."""
    leave_at_once()
    # Imports make many objects that stay; to look through them ever again was a tenth of the time.
    gc.set_threshold(50_000, 20, 20)
    from milp_trees.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
