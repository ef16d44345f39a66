"""The best tree by listing, for the tests of bounds."""

from milp_trees.engines.enumerate import enumerate_trees


def best(view, depth, least=1):
    """(Z, fewest leaves of an optimal tree) by enumeration, None if there is no tree."""
    return min(
        ((cost, leaves) for (leaves, _), (cost, _) in enumerate_trees(view, depth, least).items()),
        default=None,
    )
