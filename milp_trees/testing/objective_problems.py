"""Named tiny problems with objectives that are no sums of costs of actions.

They are prices of tests that depend on the path, ratios of counts, areas under the ROC hull, and metrics of false positives and negatives.
"""

from __future__ import annotations

from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.attribute_costs import Attribute
from milp_trees.tasks.cost_sensitive import CostSensitive
from milp_trees.tasks.monotone import CohenKappa, GeometricMean, Matthews
from milp_trees.tasks.ranking import AUC, PartialAUC
from milp_trees.tasks.ratio import F1, FBeta, Precision
from milp_trees.testing._named import CUBE, SQUARE, accuracy, dataset, named, numeric_dataset


@named
def make_f_score_conundrum() -> Problem:
    """The fewest rows for which labels by one threshold are wrong.

    F1 is 2/3 only if the leaf with 2 positives of 5 rows is labelled positive. By majority (a false
    negative costs as much as a false positive) the best tree has 1/2; with balanced classes (4/3 as
    much) it has 3/5.
    """
    return Problem(
        numeric_dataset({"x": [1.0, 2, 3, 3, 3, 3, 3]}, y=[1, 0, 1, 1, 0, 0, 0]), F1(), Trees(2)
    )


@named
def make_f_score_conundrum_reversed() -> Problem:
    """A leaf with 2 positives of 5 rows again, which must be labelled negative for F1 = 5/6.

    So no price of a false negative is right for both problems.
    """
    return Problem(
        numeric_dataset({"x": [1.0] * 5 + [2.0] * 5}, y=[1] * 5 + [1, 1, 0, 0, 0]), F1(), Trees(2)
    )


@named
def make_f_beta_weights() -> Problem:
    """F2 of weighted rows with the first class as the positive one, under a minimum leaf size."""
    data = dataset(
        [*SQUARE, [0, 1], [1, 0], [1, 1]],
        y=[0, 1, 1, 0, 1, 0, 1],
        weights=[0.5, 1, 2, 1.25, 0, 3, 1],
    )
    return Problem(data, FBeta(positive=0, beta=2), Trees(2, min_samples_leaf=2))


@named
def make_f1_leaf_penalty() -> Problem:
    """F1 loss plus a penalty per leaf.

    With 1/20 per leaf the optimum has fewer leaves than the tree with the largest F1.
    """
    return Problem(
        dataset([*CUBE, [0, 0, 1], [1, 0, 1]], y=[0, 0, 1, 0, 1, 1, 1, 0, 1, 0]),
        F1(leaf_penalty="1/20"),
        Trees(2),
    )


@named
def make_f1_without_positives() -> Problem:
    """No row is of the positive class.

    Every tree has F1 = 0, also the one that predicts no positive (0/0).
    """
    return Problem(dataset(SQUARE, y=[0, 0, 0, 0], classes=(0, 1)), F1(), Trees(1))


@named
def make_precision_at_recall() -> Problem:
    """Precision of trees that find three of four positives.

    Without this lower bound on recall, one pure leaf would be enough.
    """
    data = dataset([*SQUARE, [0, 0], [0, 1], [1, 0]], y=[1, 1, 0, 1, 0, 0, 1])
    return Problem(data, Precision(min_recall="3/4"), Trees(2))


# -- two classes, no sums over rows ----------------------------------------------------------------


@named
def make_auc() -> Problem:
    """Equal rows of different classes, so no tree ranks all rows correctly.

    The best tree for accuracy is not the best for ranking.
    """
    return accuracy(
        [*CUBE, [0, 0, 1], [1, 0, 1], [1, 1, 1]], [0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1], 2, AUC()
    )


@named
def make_auc_perfect_first_split() -> Problem:
    """First feature perfect, penalty 3/10 per leaf: two leaves at 0.6 are better than one at 0.8.

    The printed bound on leaves, H' < H + ⌊(R - b)/λ⌋ = 1 + ⌊(0.8 - 0.3)/0.3⌋ = 2, allows only the
    single leaf.
    """
    X = [[1, 0]] * 2 + [[1, 1]] + [[0, 0]] * 3 + [[0, 1]] * 4
    return accuracy(X, [1, 1, 1] + [0] * 7, 2, AUC(leaf_penalty="3/10"))


@named
def make_auc_max_leaves() -> Problem:
    """Three leaves of at least two rows; which leaf is split depends on the others."""
    return accuracy(
        [*CUBE, [0, 0, 1], [1, 0, 1]],
        [0, 1, 1, 0, 1, 1, 0, 1, 0, 1],
        2,
        AUC(),
        max_leaf_nodes=3,
        min_samples_leaf=2,
    )


@named
def make_partial_auc() -> Problem:
    """The limit cuts a step of the curve, so its area is not a multiple of a unit."""
    X = [[0, 0], [0, 0], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1], [1, 0]]
    return accuracy(X, [0, 1, 0, 1, 1, 0, 0, 1, 0, 0], 2, PartialAUC(theta="3/10"))


@named
def make_partial_auc_first_class() -> Problem:
    """The first class is the positive one, which changes a partial area; with a penalty."""
    X = [[0, 0], [0, 0], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1], [1, 0]]
    return accuracy(
        X,
        [0, 1, 0, 1, 1, 0, 0, 1, 0, 0],
        2,
        PartialAUC(theta="1/2", positive=0, leaf_penalty="1/100"),
    )


@named
def make_mcc() -> Problem:
    """Matthews' coefficient, a square root of a rational; few positives."""
    return accuracy(
        [*CUBE, [0, 0, 1], [1, 0, 1], [0, 0, 0]], [0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0], 2, Matthews()
    )


@named
def make_mcc_leaf_penalty() -> Problem:
    """With a penalty, irrational numbers plus rational ones are compared for trees of all sizes."""
    return accuracy(
        [*CUBE, [0, 0, 1], [1, 0, 1], [0, 0, 0]],
        [0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0],
        2,
        Matthews(leaf_penalty="1/20"),
    )


@named
def make_geometric_mean() -> Problem:
    """Geometric mean of both classes' shares; a single leaf has 0.

    Leaves have at least two rows, and there are at most three of them.
    """
    return accuracy(
        [*CUBE, [0, 1, 1]],
        [0, 0, 1, 0, 0, 1, 0, 0, 1],
        2,
        GeometricMean(),
        max_leaf_nodes=3,
        min_samples_leaf=2,
    )


@named
def make_kappa() -> Problem:
    """Cohen's kappa, which is rational.

    It is not a ratio for which linear problems with positive denominators exist.
    """
    return accuracy(
        [*CUBE, [0, 1, 1]], [1, 0, 1, 0, 0, 1, 0, 0, 1], 2, CohenKappa(leaf_penalty="1/30")
    )


@named
def make_priced_tests() -> Problem:
    """A group discount that pays: the second test of the group is asked on one side only."""
    return Problem(
        dataset([*CUBE, [1, 1, 0]], y=[0, 1, 1, 1, 0, 0, 1, 0, 1]),
        CostSensitive(
            matrix=[[0, 7], [9, 0]],
            attributes=[
                Attribute("blood", 3, 1, "laboratory", ["0"]),
                Attribute("urine", 2, "1/2", "laboratory", ["1"]),
                Attribute("scan", "5/2", columns=["2"]),
            ],
        ),
        Trees(2),
    )


@named
def make_price_of_two_columns() -> Problem:
    """Two columns of one attribute, paid once, with weights, a free column and a leaf limit."""
    return Problem(
        dataset(
            [*CUBE, [0, 1, 1]], y=[0, 1, 2, 1, 0, 2, 2, 0, 1], weights=[1, 2, 1, 0, 3, 1, 1, 2, 1]
        ),
        CostSensitive(
            matrix=[[0, 2, 3], [4, 0, 1], [5, 2, 0]],
            attributes=[Attribute("blood", "3/4", columns=["0", "2"])],
            split_penalty="1/50",
        ),
        Trees(2, max_leaf_nodes=3),
    )
