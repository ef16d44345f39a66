"""Names of options that people try, and which option of a command each of them means."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

#: What other programs call an option.
OTHER_NAMES = {
    "--max-depth": "--depth",
    "--max-leaves": "--leaves",
    "--max-leaf-nodes": "--leaves",
    "--leaf-nodes": "--leaves",
    "--length": "--max-length",
    "--rules": "--max-length",
    "--min-leaf": "--min-samples-leaf",
    "--min-samples": "--min-samples-leaf",
    "--min-leaf-size": "--min-samples-leaf",
    "--random-state": "--seed",
    "--timeout": "--time-limit",
    "--max-time": "--time-limit",
    "--memory": "--memory-limit",
    "--jobs": "--threads",
    "--output": "--out",
    "--objective": "--task",
    "--metric": "--task",
    "--penalty": "--leaf-penalty",
    "--regularization": "--leaf-penalty",
    "--lambda": "--leaf-penalty",
    "--alpha": "--leaf-penalty",
    "--ccp-alpha": "--leaf-penalty",
    "--class": "--target",
    "--sensitive": "--group",
    "--protected": "--group",
    "--engine": "--method",
    "--algorithm": "--method",
    "--warm-start": "--start",
    "--save": "--out",
}
#: What is said of a solver where a command takes one method.
SOLVER = "A solver is named with its formulation: --method FORMULATION@SOLVER."


def plurals(words: Sequence[str], known: Collection[str]) -> list[str]:
    """The words of a command; an option in the singular is the one that takes several.

    Parameters
    ----------
    words : sequence of str
        The command line behind the name of the command.
    known : collection of str
        The options of the command.

    Returns
    -------
    list of str
    """
    out = []
    for word in words:
        name, equals, value = word.partition("=")
        listed = f"{name}s"
        plural = name.startswith("--") and name not in known and listed in known
        out.append(f"{listed}{equals}{value}" if plural else word)
    return out


def suggestion(name: str, known: Collection[str]) -> str:
    """What to do about an option that a command does not have, in a sentence; or nothing.

    Parameters
    ----------
    name : str
        The option as it was given.
    known : collection of str
        The options of the command.

    Returns
    -------
    str
    """
    if OTHER_NAMES.get(name) in known:
        return f"Did you mean {OTHER_NAMES[name]}?"
    if name in ("--solver", "--solvers") and "--method" in known:
        return SOLVER
    if name.endswith("s") and name[:-1] in known:
        return f"Did you mean {name[:-1]}, which takes one? Several are compared by milp-trees compare."
    close = get_close_matches(name, sorted(known), n=1, cutoff=0.7)
    return f"Did you mean {close[0]}?" if close else ""
