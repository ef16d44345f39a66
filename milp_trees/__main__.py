"""`milp-trees`, the script, and `python -m milp_trees`: the command line.

Loading it takes a moment. A Ctrl-C in that moment ends the program with one sentence instead of
the traceback of the import that was under way.
"""

import gc

from milp_trees.cli.signals import leave_at_once


def collect_rarely() -> None:
    """Search for garbage first when there are many objects, and then after every 50 000 new ones.

    Imports make some hundred thousand objects that stay; to look through them again and again was a
    tenth of the time of a command.
    """

    def began(phase: str, info: dict[str, int]) -> None:
        gc.callbacks.remove(began)
        gc.set_threshold(50_000, 20, 20)

    gc.set_threshold(500_000, 20, 20)
    gc.callbacks.append(began)


def main() -> None:
    """Entry point of `milp-trees`."""
    leave_at_once()
    collect_rarely()
    from milp_trees.cli.main import main as command_line

    try:
        command_line()
    finally:
        gc.freeze()  # at its end Python would look through all objects twice more


if __name__ == "__main__":
    main()
