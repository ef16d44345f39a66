"""Logarithms of leaf functions: the same doubles in numpy, scalar and vector code, within the stated error;
and enclosures with rational ends.
"""

import random
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from milp_trees.common.compiling.inside import intrinsic, ir, types
from milp_trees.common.compiling.kernels import c_function
from milp_trees.common.compiling.reals import F64, RealCode, Traced
from milp_trees.common.logarithms import BITS, log_between, log_ends, log_of_product
from milp_trees.tasks.leaf_functions import TAIL, log, times_log, times_log_quotient, values_of
from milp_trees.tasks.probabilities import Gini, LogLoss
from milp_trees.tasks.survival import Survival

LANES = 4


def numbers(n=4000, seed=0):
    """Doubles of all sizes, most of them near 1, and the ends of mantissas."""
    rng = np.random.default_rng(seed)
    near = 1 + rng.uniform(-1, 1, n) * 10.0 ** rng.uniform(-15, 0, n)
    ends = [1.0, 0.5**0.5, 2**0.5, 0.5, 2.0, 2.0**-53, 2.0**53]
    beside = [np.nextafter(x, to) for x in ends for to in (0, np.inf)]
    found = np.concatenate([near, 2.0 ** rng.uniform(-60, 60, n), ends, beside])
    return found[found > 0]


def exact_log(x):
    with localcontext() as context:
        context.prec = 60
        return Decimal(x).ln()


def test_a_logarithm_is_off_by_no_more_than_is_stated():
    x = numbers()
    for given, found in zip(x.tolist(), log(x).tolist(), strict=True):
        true = exact_log(given)
        assert abs(Decimal(found) - true) <= 8 * abs(true) * Decimal(2) ** -53, given


def test_a_quotient_s_logarithm_is_off_by_no_more_than_is_stated():
    x = numbers()
    rng = np.random.default_rng(1)
    a = np.concatenate([x * rng.permutation(x), x * np.nextafter(1, 2), x * 2 / 3, x * 1.5, x])
    x = np.tile(x, 5)
    for given, by, found in zip(
        a.tolist(), x.tolist(), times_log_quotient(a, x).tolist(), strict=True
    ):
        with localcontext() as context:
            context.prec = 60
            true = Decimal(given) * (Decimal(given) / Decimal(by)).ln()
            assert abs(Decimal(found) - true) <= 9 * abs(true) * Decimal(2) ** -53, (given, by)


def test_the_polynomial_is_as_near_to_the_series_as_is_stated():
    series = [Fraction(1, 2 * j + 3) for j in range(40)]
    apart = [Fraction(c) - s for c, s in zip(TAIL, series, strict=False)]
    apart += [-s for s in series[len(TAIL) :]]
    for i in range(401):
        z = Fraction(i, 25 * 400)
        assert abs(sum(c * z ** (j + 1) for j, c in enumerate(apart))) < Fraction(1, 2**55)


def test_nothing_times_a_logarithm_is_nothing():
    with np.errstate(invalid="raise", over="raise"):
        zeros, many = np.zeros(3), np.array([1.0, 3.0, 2.0**53])
        assert not times_log_quotient(zeros, many).any()
        assert not times_log_quotient(many, many).any()
    with pytest.raises(TypeError, match="Fraction"):
        times_log_quotient(Fraction(1, 3), Fraction(1))
    assert times_log(np.array([0.0, 2.0]), np.array([0.0, 1.0])).tolist() == [0, 0]
    with pytest.raises(TypeError, match="Fraction"):
        log(Fraction(1, 3))


def compiled(leaf, n_sums):
    """A leaf function in vector code, from the address of doubles of shape (n_sums, LANES)."""
    vec = ir.VectorType(F64, LANES)

    @intrinsic
    def body(typingctx, given, out):
        def codegen(context, builder, signature, args):
            code = RealCode(builder, args[1], LANES)
            places = [code.sum(args[0], 8 * LANES * u) for u in range(n_sums)]
            sums = tuple(Traced(builder, code.load(place, vec)) for place in places)
            code.store(leaf(sums).value, args[1])
            return args[1]

        return types.int64(types.int64, types.int64), codegen

    def run(given, out):
        return body(given, out)

    return c_function("int64(int64, int64)", run)


def in_vectors(leaf, sums):
    """What vector code gives for rows of sums."""
    run, found = compiled(leaf, sums.shape[1]).ctypes, []
    for block in sums.reshape(-1, LANES, sums.shape[1]):
        given, out = np.ascontiguousarray(block.T, dtype=float), np.zeros(LANES)
        run(given.ctypes.data, out.ctypes.data)
        found += out.tolist()
    return np.array(found)


@pytest.mark.parametrize(
    ("task", "n_sums"), [(Survival, 2), (Gini, 2), (LogLoss, 2), (LogLoss, 4), (Gini, 3)]
)
def test_vector_code_gives_the_doubles_of_numpy(task, n_sums):
    rng = np.random.default_rng(n_sums)
    parts = np.floor(2.0 ** rng.uniform(0, 49, (400, n_sums))) * (rng.random((400, n_sums)) < 0.8)
    sums = np.column_stack([parts.sum(axis=1) + (task is Survival), parts[:, 1:]])
    sums[:, 0] = np.maximum(sums[:, 0], 1)
    assert np.array_equal(in_vectors(task.leaf, sums), values_of(task.leaf, sums))


def test_scalar_code_gives_the_units_of_numpy():
    from milp_trees.engines.kit.leaf_code import leaf_function

    rng = np.random.default_rng(1)
    sums = np.column_stack([rng.integers(1, 2**51, 300), rng.integers(0, 2**51, 300)])
    run = leaf_function(Survival.leaf, 2).ctypes
    parameters = np.array([0.25, 3.0])
    expected = np.floor(values_of(Survival.leaf, sums) * 0.25 - 3).astype(np.int64)
    for row, units in zip(np.ascontiguousarray(sums), expected.tolist(), strict=True):
        assert run(row.ctypes.data, parameters.ctypes.data) == units


def test_rational_ends_enclose_a_logarithm():
    rng = random.Random(0)
    for _ in range(500):
        x = Fraction(*(rng.randint(1, 2 ** rng.randint(1, 90)) for _ in range(2)))
        low, high = log_ends(x)
        assert high - low < Fraction(1, 2**110)
        with localcontext() as context:
            context.prec = 60
            true = Fraction((Decimal(x.numerator) / Decimal(x.denominator)).ln())
        slack = Fraction(1, 10**50)
        assert low - slack <= true <= high + slack
    assert log_between(Fraction(1)) == 0 or abs(log_between(Fraction(1))) < Fraction(1, 2**120)
    assert log_ends(Fraction(2, 3))[0] == -log_ends(Fraction(3, 2))[1]


def test_the_logarithm_of_a_product_is_the_sum_of_logarithms():
    rng = random.Random(1)
    for size in range(1, 40):
        numbers = [rng.randint(1, 2 ** rng.randint(1, 90)) for _ in range(size)]
        powers = [rng.randint(1, 2 ** rng.randint(1, size)) for _ in range(size)]
        low, high = log_of_product(numbers, powers)
        with localcontext() as context:
            context.prec = 80
            pairs = zip(numbers, powers, strict=True)
            true = sum((n * Decimal(x).ln() for x, n in pairs), Decimal(0)) * 2**BITS
            assert low <= true <= high
        bits = sum(n * x.bit_length() for x, n in zip(numbers, powers, strict=True))
        assert high - low < 2**12 * (1 + bits)
