"""The vertices of small linear sets.

0/1 and integer points are found by branching, vertices of polytopes by Qhull; each vertex is then
computed again from its facets. Barber, Dobkin, Huhdanpaa (1996), *The Quickhull algorithm for
convex hulls*, through SciPy.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import HalfspaceIntersection, QhullError

from milp_trees.decisions.base import LinearSet

#: Larger polytopes are not listed: the time of Qhull grows exponentially, with half the dimension
#: as exponent.
DIMENSIONS, INEQUALITIES = 9, 200
#: Number of partial points that branching may visit, per point that may be listed.
EFFORT = 200
#: Tolerance within which a row is tight, or a point feasible.
TIGHT = 1e-7
CLOSE = 1e-9
PLACES = 12


def list_vertices(program: LinearSet, d: int, limit: int) -> np.ndarray | None:
    """Points of S that include all vertices of its convex hull, sorted.

    Parameters
    ----------
    program : LinearSet
        S as a linear program.
    d : int
        Number of its first variables that form a decision.
    limit : int
        Largest number of points.

    Returns
    -------
    array of shape (K, d) or None
        None if there are more than `limit` points, or the set is too large to be listed.
    """
    if program.integer.all():
        points = _integer_points(program, limit)
    elif not program.integer.any():
        points = _polytope(program)
    else:
        return None
    if points is None:
        return None
    points = np.unique(np.round(points[:, :d], PLACES) + 0.0, axis=0)
    # Large first entries come first, so the first alternative of a choice is listed first.
    return np.ascontiguousarray(points[::-1]) if len(points) <= limit else None


# -- integer points --------------------------------------------------------------------------------


def _integer_points(p: LinearSet, limit: int) -> np.ndarray | None:
    """All integer points, entry by entry, as long as every row can still be satisfied."""
    A = p.A.toarray()
    lower, upper = np.ceil(p.lower - CLOSE), np.floor(p.upper + CLOSE)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        return None
    least = np.minimum(A * lower, A * upper)
    most = np.maximum(A * lower, A * upper)
    # rest_least[:, j]: least activity of the entries j, j + 1, …
    rest_least = np.hstack([np.cumsum(least[:, ::-1], axis=1)[:, ::-1], np.zeros((len(A), 1))])
    rest_most = np.hstack([np.cumsum(most[:, ::-1], axis=1)[:, ::-1], np.zeros((len(A), 1))])
    slack = CLOSE * np.maximum(1.0, np.abs(A).sum(axis=1))
    found: list[np.ndarray] = []
    stack: list[tuple[int, np.ndarray, np.ndarray]] = [(0, np.zeros(len(lower)), np.zeros(len(A)))]
    effort = EFFORT * (limit + 1)
    while stack:
        effort -= 1
        j, point, activity = stack.pop()
        if (activity + rest_least[:, j] > p.row_upper + slack).any() or (
            activity + rest_most[:, j] < p.row_lower - slack
        ).any():
            continue
        if effort < 0:
            return None
        if j == len(lower):
            found.append(point)
            if len(found) > limit:
                return None
            continue
        if upper[j] - lower[j] > effort:
            return None
        for v in np.arange(lower[j], upper[j] + 0.5):
            further = point.copy()
            further[j] = v
            stack.append((j + 1, further, activity + A[:, j] * v))
    return np.array(found).reshape(len(found), len(lower))


# -- polytopes -------------------------------------------------------------------------------------


def _polytope(p: LinearSet) -> np.ndarray | None:
    """Vertices of a bounded polytope of few dimensions, in the space of all its variables."""
    rows = _inequalities(p)
    if rows is None:
        return None
    G, h, E, f = rows
    origin, basis = _affine_hull(E, f, G.shape[1])
    if basis.shape[1] > DIMENSIONS:
        return None
    reduced, right = G @ basis, h - G @ origin
    scale = np.linalg.norm(reduced, axis=1)
    kept = scale > CLOSE
    reduced, right = reduced[kept] / scale[kept, None], right[kept] / scale[kept]
    corners = _corners(reduced, right, basis.shape[1])
    if corners is None:
        return None
    polished = [_polish(z, reduced, right) for z in corners]
    return np.array([origin + basis @ z for z in polished if (reduced @ z <= right + CLOSE).all()])


def _inequalities(p: LinearSet) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """G x <= h and E x = f; inequalities that always hold with equality are among the latter.

    None if there are too many, or S is unbounded.
    """
    A, identity = p.A.toarray(), np.eye(len(p.lower))
    rows = np.vstack([A, identity])
    low, up = np.append(p.row_lower, p.lower), np.append(p.row_upper, p.upper)
    equal = low == up
    G = np.vstack([rows[~equal & np.isfinite(up)], -rows[~equal & np.isfinite(low)]])
    h = np.concatenate([up[~equal & np.isfinite(up)], -low[~equal & np.isfinite(low)]])
    E, f = rows[equal], up[equal]
    if len(G) > INEQUALITIES or G.shape[1] > 10 * DIMENSIONS:
        return None
    always = np.zeros(len(G), dtype=bool)
    for k, row in enumerate(G):
        answer = linprog(
            row,
            A_ub=G,
            b_ub=h,
            A_eq=E if len(E) else None,
            b_eq=f if len(E) else None,
            bounds=(None, None),
            method="highs-ds",
        )
        if answer.status == 3:
            continue  # the minimum does not exist, so the row is not always tight
        if answer.status != 0:
            return None
        always[k] = h[k] - answer.fun <= CLOSE * max(1.0, float(np.linalg.norm(row)))
    return G[~always], h[~always], np.vstack([E, G[always]]), np.concatenate([f, h[always]])


def _affine_hull(E: np.ndarray, f: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A point and an orthonormal basis of the solutions of E x = f."""
    if not len(E):
        return np.zeros(n), np.eye(n)
    _, sizes, right = np.linalg.svd(E)
    rank = int((sizes > CLOSE * max(1.0, sizes[0])).sum())
    return np.linalg.lstsq(E, f, rcond=None)[0], right[rank:].T


def _corners(G: np.ndarray, h: np.ndarray, dimension: int) -> np.ndarray | None:
    """Vertices of the full-dimensional polytope G z <= h, to Qhull's accuracy.

    The rows of G have length 1. None if the polytope is unbounded or too flat.
    """
    if dimension == 0:
        return np.zeros((1, 0))
    if dimension == 1:
        top, bottom = (h / G[:, 0])[G[:, 0] > 0], (h / G[:, 0])[G[:, 0] < 0]
        return np.array([[top.min()], [bottom.max()]]) if len(top) and len(bottom) else None
    ball = linprog(
        np.append(np.zeros(dimension), -1.0),
        A_ub=np.hstack([G, np.ones((len(G), 1))]),
        b_ub=h,
        bounds=(None, None),
        method="highs-ds",
    )
    if ball.status != 0 or ball.x[-1] <= TIGHT:
        return None
    try:
        corners = HalfspaceIntersection(np.hstack([G, -h[:, None]]), ball.x[:-1]).intersections
    except QhullError:
        return None
    return corners if np.isfinite(corners).all() else None


def _polish(z: np.ndarray, G: np.ndarray, h: np.ndarray) -> np.ndarray:
    """The vertex computed again from the rows that are tight there, to full precision."""
    tight = np.abs(G @ z - h) <= TIGHT
    return z + np.linalg.lstsq(G[tight], h[tight] - G[tight] @ z, rcond=None)[0] if len(z) else z
