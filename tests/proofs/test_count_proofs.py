"""Counts of all trees near the best: `check_count` against all trees, and the claims of near-best."""

import json
import shutil
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from checker_files import NOTHING, statement
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees import Limits
from milp_trees.cli.main import app
from milp_trees.common.errors import Unsupported
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification import check_count
from milp_trees.verification.check_proof import Instance, Wrong

ENOUGH = Limits(time=60)
METHOD = registry.method("near-best")
VERIFICATION = Path(check_count.__file__).parent


class AllTrees:
    """All trees as (cost, leaves, action if a leaf): how many there are, row by row."""

    def __init__(self, X, costs, leaf, splits, minima, trivial, equal_tests):
        rows = {}
        for x, cost, *amounts in zip(X, costs, *(w for _, w in minima), strict=True):
            old = rows.get(tuple(x), [0] * (len(cost) + len(amounts)))
            rows[tuple(x)] = [a + b for a, b in zip(old, [*cost, *amounts], strict=True)]
        self.X, self.sums, self.K = list(rows), list(rows.values()), len(costs[0])
        self.leaf, self.splits, self.least = leaf, splits, [m for m, _ in minima]
        self.trivial, self.one, self.memo = trivial, equal_tests == "one", {}

    def of(self, rows, depth):
        if (rows, depth) in self.memo:
            return self.memo[rows, depth]
        total = [sum(column) for column in zip(*(self.sums[i] for i in rows), strict=True)]
        out, costs = {}, total[: self.K]
        if all(a >= b for a, b in zip(total[self.K :], self.least, strict=True)):
            out[min(costs) + self.leaf, 1, costs.index(min(costs))] = 1
        for f, no, yes in self.divisions(rows) if depth else ():
            for (u, l, k), m in self.of(no, depth - 1).items():
                for (v, r, q), n in self.of(yes, depth - 1).items():
                    if self.trivial or k is None or k != q:
                        key = u + v + self.splits[f], l + r, None
                        out[key] = out.get(key, 0) + m * n
        self.memo[rows, depth] = out
        return out

    def divisions(self, rows):
        found = {}
        for f in range(len(self.splits)):
            no = tuple(i for i in rows if not self.X[i][f])
            yes = tuple(i for i in rows if self.X[i][f])
            key = frozenset([no, yes]) if self.one else f
            if no and yes and (key not in found or self.splits[f] < self.splits[found[key][0]]):
                found[key] = f, no, yes
        return found.values()

    def count(self, depth, leaves):
        """Number of trees by cost."""
        out = {}
        every = tuple(range(len(self.X)))
        for (cost, l, _), n in self.of(every, len(every) if depth is None else depth).items():
            if leaves is None or l <= leaves:
                out[cost] = out.get(cost, 0) + n
        return out


def table(rng, n, F):
    X = rng.integers(0, 2, (n, F))
    if F > 1 and rng.random() < 0.4:
        X[:, 0] = X[:, 1] ^ rng.integers(0, 2)
    if n > 2 and rng.random() < 0.5:
        X[1] = X[0]
    return X


def options(rng):
    return bool(rng.random() < 0.5), str(rng.choice(["all", "one"]))


def test_counts_are_those_of_all_trees():
    rng = np.random.default_rng(0)
    most = 0
    for _ in range(150):
        n, F, K = int(rng.integers(1, 10)), int(rng.integers(1, 6)), int(rng.integers(1, 4))
        X, size = table(rng, n, F), int(rng.choice([1, 3, 20, 10**9]))
        costs = rng.integers(-size, size + 1, (n, K))
        leaf, splits = (
            int(rng.choice([0, 0, 1, size // 2])),
            rng.integers(0, rng.choice([1, 2, size + 1]), F),
        )
        depth = None if rng.random() < 0.3 else int(rng.integers(0, 5))
        leaves = None if rng.random() < 0.6 else int(rng.integers(1, 7))
        minima = [(int(rng.integers(1, 4)), np.ones(n, int))] if rng.random() < 0.4 else []
        minima += [(int(rng.integers(0, 8)), rng.integers(0, 4, n))] if rng.random() < 0.2 else []
        trivial, equal = options(rng)
        plain = [(m, w.tolist()) for m, w in minima]
        every = AllTrees(X.tolist(), costs.tolist(), leaf, splits.tolist(), plain, trivial, equal)
        numbers = every.count(depth, leaves)
        values = sorted(numbers) or [0]
        instance = Instance(X, costs, leaf, splits, minima)
        instance.known = {}
        for allowance in {values[0] - 1, values[0], values[len(values) // 2], values[-1] + 5}:
            found = check_count.Trees(
                instance, depth, leaves, allowance - int(instance.base.sum()), trivial, equal
            )
            wanted = sum(number for cost, number in numbers.items() if cost <= allowance)
            assert found.count == wanted
            most = max(most, wanted)
    assert most > 100


def random_problem(rng):
    n, F = int(rng.integers(2, 40)), int(rng.integers(1, 8))
    X, y = table(rng, n, F).astype(np.uint8), rng.integers(0, 3, n)
    y[:2] = 0, 1
    leaf, split = [(0, 0), (1, 0), (Fraction(1, 2), Fraction(1, 2)), (0, 1)][int(rng.integers(4))]
    unlimited = leaf + split > 0 and rng.random() < 0.5
    trivial, equal = options(rng)
    question = mt.plugins.NearBest(
        slack=Fraction(int(rng.integers(0, 4)), n), trivial=trivial, equal_tests=equal
    )
    space = mt.Trees(
        max_depth=None if unlimited else int(rng.integers(0, 6)),
        min_samples_leaf=int(rng.choice([1, 1, 3])),
        max_leaf_nodes=int(rng.integers(2, 8)) if rng.random() < 0.3 else None,
    )
    task = mt.Accuracy(leaf_penalty=Fraction(leaf, n), split_penalty=Fraction(split, n))
    return mt.Problem(mt.Dataset(X, y=[str(k) for k in y]), task, space, question=question)


def lines(problem, result, claims):
    """The file of a count; its rows are part of it."""
    view, space = problem.view(CostMatrix), problem.trees
    statement = {
        "format": "milp-trees-proof",
        "version": 1,
        "kind": "trees",
        "depth": space.max_depth,
        "leaves": space.max_leaf_nodes,
        "leaf_cost": view.leaf_cost,
        "split_costs": view.split_costs.tolist(),
        "minima": [{"least": space.min_samples_leaf, "amounts": {"listed": view.counts.tolist()}}],
        "data": {"kind": "rows", "X": ["".join(map(str, x)) for x in view.X.tolist()]},
        "features": [test.name for test in view.features],
        "costs": {"kind": "listed", "values": view.costs.tolist()},
        "side": [],
        "multipliers": [],
        "denominator": 1,
        "actions": [str(a) for a in view.actions],
        "offset": str(view.offset),
        "scale": str(view.scale),
        "unit": "",
        "model": None,
        "value": None,
        "bound": claims.items[-1][0],
    }
    return [json.dumps(x) for x in (statement, *map(list, claims.items), claims.notes["count"])]


def test_the_claims_of_near_best_make_its_count():
    rng = np.random.default_rng(1)
    claimed = 0
    for _ in range(40):
        problem = random_problem(rng)
        if METHOD.unsupported(problem):
            continue
        result = METHOD.run(problem, ENOUGH)
        if result.trees is None:
            continue
        claims = METHOD.prove(problem, result, ENOUGH)
        file, optimum = (
            lines(problem, result, claims),
            problem.view(CostMatrix).objective(result.predictor),
        )
        verdict = check_count.check(file)
        assert (verdict.trees, verdict.optimum) == (result.trees.count, optimum)
        assert problem.trees.max_leaf_nodes or claims.items[-1][0] == optimum
        claimed += len(claims.items) > 2
        for change in (-1, 1):
            wrong = {**claims.notes["count"], "count": result.trees.count + change}
            with pytest.raises(Wrong, match="and the file says"):
                check_count.check([*file[:-1], json.dumps(wrong)])
        for number in rng.permutation(len(claims.items) - 1)[:2].tolist():
            claim = claims.items[number]
            higher = json.dumps([claim[0] + 1, *claim[1:]])
            with suppress(Wrong):  # a claim that still follows changes no count
                again = check_count.check([*file[: number + 1], higher, *file[number + 2 :]])
                assert again.trees == result.trees.count
    assert claimed > 4


def test_a_file_without_a_count_is_unreadable():
    for last in (
        "[1, null, []]",
        "{}",
        '{"allowance": 1, "count": 1, "trivial": 1, "equal_tests": "all"}',
    ):
        with pytest.raises(Wrong, match="last line"):
            check_count.check(["{}", "[0, 0, []]", last])


def test_it_runs_beside_its_checker_alone(tmp_path):
    problem = random_problem(np.random.default_rng(3))
    result = METHOD.run(problem, ENOUGH)
    file = lines(problem, result, METHOD.prove(problem, result, ENOUGH))
    for name in ("check_count.py", "check_proof.py", "proof_reading.py"):
        shutil.copy(VERIFICATION / name, tmp_path)
    (tmp_path / "count.proof").write_text("\n".join(file))
    command = [sys.executable, "check_count.py", "count.proof"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"counted: {result.trees.count} tree")


def test_a_result_without_a_set_has_no_proof():
    problem = random_problem(np.random.default_rng(3))
    best = mt.Problem(problem.dataset, problem.task, problem.space)
    with pytest.raises(Unsupported, match="within a slack"):
        METHOD.prove(best, METHOD.run(best, ENOUGH), ENOUGH)


def test_the_command_writes_a_proof_of_the_count(tmp_path):
    runner, proof = CliRunner(), tmp_path / "p.proof"
    words = ["near-best", "planted:rows=30,tests=4,depth=2", "--depth", "2", "--slack", "1"]
    message = runner.invoke(app, [*words, "--proof", str(proof), "--json"])
    found = json.loads(message.stdout)
    assert found["proof"]["file"] == "p.proof"
    checked = runner.invoke(app, ["check", str(proof)])
    assert checked.exit_code == 0, checked.output
    assert f"counted: {found['count']} trees" in checked.stdout


def test_a_count_says_costs_in_natural_units():
    """Offset and scale turn Z of the allowance and of the best tree into the numbers that are said."""
    s = statement(["0", "1"], [[0, 1], [1, 0]], 0, [0]) | {"offset": "-7/2", "scale": "3/4"}
    last = {"allowance": 1, "count": 2, "trivial": False, "equal_tests": "all"}
    text = [json.dumps(x) for x in (s, [NOTHING, None, []], last)]
    message = check_count.check(text).sentence
    assert message.startswith("counted: 2 trees have at most -2.75")
    assert "the best of them has -3.5" in message
