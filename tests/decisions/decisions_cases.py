"""Sets of decisions that several tests look at."""

import itertools

import numpy as np
import pyomo.environ as pyo

import milp_trees as mt


def news(seed=10):
    A = np.random.RandomState(seed).exponential(1.0, (5, 6))
    return mt.decisions.simplex_decisions(6, (A, np.ones(5)))


def small_milp():
    """0/1 choices with a logical row and an auxiliary continuous variable."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), domain=pyo.Binary)
    m.used = pyo.Var(bounds=(0, 5))
    m.cost = pyo.Objective(expr=sum(m.x[j] for j in range(4)))
    m.sum = pyo.Constraint(expr=m.used == 2 * m.x[0] + 3 * m.x[1] + m.x[2] + 2 * m.x[3])
    m.some = pyo.Constraint(expr=m.x[0] + m.x[3] >= 1)
    return m


SMALL_MILP = np.array(
    [
        w
        for w in itertools.product((0, 1), repeat=4)
        if np.dot(w, (2, 3, 1, 2)) <= 5 and w[0] + w[3] >= 1
    ],
    dtype=float,
)


def random_costs(d, rng, m=40):
    """Real costs of both signs, small integers with many ties, zeros, and huge and tiny numbers."""
    real, whole = rng.normal(size=(m, d)), rng.integers(-2, 3, (m, d)).astype(float)
    return np.vstack([real, whole, np.zeros((1, d)), real[:3] * 1e9, real[:3] * 1e-9])
