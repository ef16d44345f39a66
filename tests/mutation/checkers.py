"""What must catch a fault in a checker: verdicts that are known on the files that the tests of proofs
read, for every checker; quick files first.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .mps_texts import MPS
from .mutants import ROOT, Mutant

#: Helpers of the tests of proofs and of total unimodularity are beside these.
for folder in ("tests", "tests/proofs", "tests/unimodular"):
    sys.path.insert(0, str(ROOT / folder))

CHECKER_FILES = [
    "milp_trees/pruning/verification/check_flow.py",
    "milp_trees/unimodular/check_unimodular.py",
    *(
        f"milp_trees/verification/{name}.py"
        for name in (
            "check_count",
            "check_gap",
            "check_loss",
            "check_proof",
            "proof_reading",
            "reference_checker/check",
            "reference_checker/listing",
            "reference_checker/losses",
            "reference_checker/reading",
            "reference_checker/statement",
        )
    ),
]

#: Where tables of data lie that files name.
FOLDER = tempfile.TemporaryDirectory()
#: A file by name, what reads it, and what the true code says of it.
Entry = tuple[str, Callable[[], Any], Any]


def first_difference(mutant: Mutant) -> dict[str, Any]:
    """The verdict on a fault in a checker: the first file of which it says something else."""
    for name, ask, expected in corpus(Path(mutant.file).stem):
        try:
            found = ask()
        except Exception as raised:
            message = f"{type(raised).__name__}: {raised}"[:300]
            return {"verdict": "raised", "check": "files", "problem": name, "message": message}
        if found != expected:
            message = f"{found} in place of {expected}"[:300]
            return {"verdict": "caught", "check": "files", "problem": name, "message": message}
    return {"verdict": "survived"}


_corpora: dict[str, list[Entry]] = {}


def corpus(checker: str) -> list[Entry]:
    """The files of a checker, in the order in which they are tried; made by the true code."""
    if checker not in _corpora:
        readers = {
            "check_count": _counts,
            "check_flow": _flows,
            "check_gap": _gaps,
            "check_loss": _losses,
            "check_proof": _claims,
            "check_unimodular": _matrices,
            "losses": _slow_losses,
            "proof_reading": _read,
        }
        requested = readers.get(checker, _slow)()
        _corpora[checker] = [(name, ask, ask()) for name, ask in requested]
    return _corpora[checker]


#: Numbers that a refusal names because a file says another one.
NUMBER = re.compile(r"(?:number of trees is|has Z of|proves? the bound|has the value) -?\d+")


def _said(check: Callable[..., Any], *given: Any) -> Any:
    """What a checker finds, with its sentence; if it refuses, the number that it names."""
    from milp_trees.verification.proof_reading import Unreadable, Wrong
    from milp_trees.verification.reference_checker.reading import Refused

    try:
        found = check(*given)
    except Unreadable:
        return "unreadable"
    except (Wrong, Refused) as why:
        number = NUMBER.search(str(why))
        return "refused", number and number[0]
    return tuple(found) if isinstance(found, tuple) else found


def _matrix_of(read: Callable[[bytes], Any], raw: bytes) -> Any:
    """What a reader of models says; a file that is none is refused, or leads to an error."""
    from milp_trees.verification.proof_reading import FAULTS

    try:
        return _said(read, raw)
    except FAULTS as why:
        return type(why).__name__


Asked = Iterator[tuple[str, Callable[[], Any]]]


def _texts() -> Iterator[tuple[str, list[str]]]:
    """Files of claims."""
    from checker_files import DEEP, FAMILIES, made, parity

    for family, seeds in (("honest", range(60)), ("damaged", range(5000, 5400)), ("deep", DEEP)):
        assert family in FAMILIES
        for seed in seeds:
            yield from ((f"{family}-{seed}-{k}", text) for k, text in enumerate(made(family, seed)))
    for F in (2, 3, 4, 5):
        yield from ((f"parity-{F}-{k}", text) for k, text in enumerate(parity(F)))


def _thresholds() -> Asked:
    """Of many nested tests: the best models with few leaves, of all rows and of both sides."""
    import numpy as np

    from milp_trees.verification import check_proof

    def small(whole: Any, room: int) -> Any:
        before, check_proof.ROOM = check_proof.ROOM, room
        try:
            part = check_proof.Part(whole, np.ones(len(whole.X), bool))
            batch = np.array([0, len(part.tests) // 3])
            return part.small().tolist(), part.children(batch).tolist()
        finally:
            check_proof.ROOM = before

    for seed in range(10):
        r = np.random.default_rng(seed)
        numbers = r.integers(0, 40, (int(r.integers(20, 40)), int(r.integers(1, 3))))
        X = np.concatenate([x[:, None] <= np.unique(x)[:-1] for x in numbers.T], axis=1)
        K = 2 + seed % 3
        labels = np.eye(K, dtype=int)[(numbers[:, 0] > 20).astype(int)]
        costs = r.integers(0, 1 + seed % 4, (len(X), K)) + labels
        split = r.integers(0, 3, X.shape[1]) if seed % 2 else 0
        kind = "lists" if seed % 5 == 4 else "trees"
        whole = check_proof.Instance(X, costs, seed % 3, split, kind=kind)
        for room in (0, 2**24):
            yield f"thresholds-{seed} room {room}", partial(small, whole, room)


def _other_units() -> Iterator[tuple[str, list[str]]]:
    """Proofs with an offset and a scale, and with costs at and beside the largest."""
    from checker_files import made

    units = {"offset": "-12", "scale": "3/2", "unit": "errors"}, {"offset": "7/3", "scale": "-1/4"}
    for seed in range(20):
        for text in made("honest", seed):
            for k, unit in enumerate(units):
                stated = json.dumps(json.loads(text[0]) | unit)
                yield f"honest-{seed} in units {k}", [stated, *text[1:]]
    for power in (22, 23, 24, 25, 49, 50, 51, 52):
        for seed in range(6):
            for text in made("honest", seed):
                s = json.loads(text[0])
                s["costs"]["values"][0][0] += 2**power - 5
                s["model"] = s["value"] = None
                yield f"honest-{seed} with 2^{power}", [json.dumps(s), *text[1:]]


def _claims() -> Asked:
    from milp_trees.verification import check_proof

    def with_room(text: list[str], room: int) -> Any:
        before, check_proof.ROOM = check_proof.ROOM, room
        try:
            return _said(check_proof.check, text)
        finally:
            check_proof.ROOM = before

    yield from _thresholds()
    for name, text in _other_units():
        yield name, partial(_said, check_proof.check, text)
    for room in (2**18, 0, 20):
        for name, text in _texts():
            if room == 2**18 or not name.startswith("deep"):
                yield f"{name} room {room}", partial(with_room, text, room)


def _slow() -> Asked:
    from milp_trees.verification.reference_checker import check as check_slowly

    yield from _tables(check_slowly.check_slowly)
    for name, text in _texts():
        yield name, partial(_said, check_slowly.check_slowly, text)
    for name, text in _gap_texts(60):
        yield name, partial(_said, check_slowly.check_slowly, text)
    for name, text in _count_texts(60):
        yield name, partial(_said, check_slowly.count_slowly, text)


def _loss_texts() -> Iterator[tuple[str, list[str]]]:
    """Files about squared error: honest and damaged ones, and claims that are a little too high."""
    import random

    from loss_problems import damaged, honest, lines
    from test_lock import edited, garbled

    for seed in range(60):
        made = honest(seed)
        if made is None:
            continue
        s, claims = made
        yield f"loss-{seed}", lines(s, claims)
        for k in range(0, 24, 2):  # the highest bound that follows, to a share of 2^-10 or so
            last = [claims[-1][0] + 4 ** (k // 2), *claims[-1][1:]]
            yield f"loss-{seed} + 4^{k // 2}", lines({**s, "bound": last[0]}, [*claims[:-1], last])
        for k in range(7 * seed, 7 * seed + 7):
            name, (t, some) = damaged(made, k)
            yield f"loss-{seed}-{name}-{k}", lines(t, some)
        rng, text = random.Random(seed), lines(s, claims)
        k = rng.choice([0, 0, rng.randrange(len(text))])
        changed = rng.choice([edited, garbled])(text[k], rng)
        yield f"loss-{seed}-malformed", [*text[:k], changed, *text[k + 1 :]]


def _loss_tables(check: Callable[..., Any]) -> Asked:
    """A proof about a table with decimal commas and weights, and tables and statements beside it."""
    table = "dry;yield;load\n1;1,5;2\n0;2,25;1\n1;0,75;1,5\n0;2;0\n"
    form = {"kind": "table", "skip": 1, "names": ["dry", "yield", "load"], "delimiter": ";"}
    form |= {"quote": '"', "encoding": "utf-8", "decimal": ",", "missing": [""], "gzip": False}
    s: dict[str, Any] = {
        **{"format": "milp-trees-proof", "version": 1, "kind": "squared error", "depth": 1},
        **{"leaves": None, "leaf_penalty": "0", "split_penalties": "0", "minima": []},
        **{"data": form, "features": [[["dry", "is", None, None, True]]], "share": False},
        **{"targets": {"unit": "1/4", "columns": ["yield"]}, "power": 30},
        **{"weights": {"unit": "1/2", "columns": ["load"]}, "predictions": [[2.25], [1.1875]]},
        **{"model": [0, 0, 1], "value": "247/512", "bound": 15 * 2**30},
    }
    changes: list[dict[str, Any]] = [{}, {"weights": "rows"}, {"power": 31}, {"share": True}]
    changes += [{"targets": {"unit": unit, "columns": ["yield"]}} for unit in ("1/8", "1/2", "1")]
    changes += [{"targets": {"unit": "1/4", "columns": ["yield", "load"]}}, {"value": None}]
    changes += [{"data": {**form, k: v}} for k, v in (("decimal", "."), ("missing", ["2"]))]
    changes += [{"predictions": [[2.0], [1.25]]}, {"model": 0}, {"model": None, "value": None}]
    folder = Path(FOLDER.name)
    for k, old in enumerate(["", "1,5", "2,25", "load", ";0\n", ";1\n"]):
        path = folder / f"loss-{k}.csv"
        path.write_text(table.replace(old, "3", 1) if old else table, encoding="utf-8")
        for j, change in enumerate(changes):
            text = [json.dumps(s | change), f"[{15 * 2**30}, 1, []]"]
            yield f"table {k} statement {j}", partial(_said, check, text, path)


def _sharp(check: Callable[..., Any]) -> Asked:
    """The highest bound that a checker accepts of an honest file's last claim, and the next one."""
    from loss_problems import honest, lines

    from milp_trees.verification.proof_reading import Wrong
    from milp_trees.verification.reference_checker.reading import Refused

    def last(made: Any, bound: int) -> list[str]:
        s, claims = made
        return lines({**s, "bound": bound}, [*claims[:-1], [bound, *claims[-1][1:]]])

    for seed in range(40):
        made = honest(seed)
        if made is None:
            continue
        low = made[1][-1][0]
        high = low + low // 2**10 + 2**20  # more than any tree costs
        while high - low > 1:
            middle = (low + high) // 2
            try:
                check(last(made, middle))
                low = middle
            except (Wrong, Refused):
                high = middle
        for bound in (low, high):
            yield f"sharp-{seed} {bound}", partial(_said, check, last(made, bound))


def _instances() -> Asked:
    """What rows cost at least and more, and what leaves save, for numbers of all sizes."""
    import numpy as np

    from milp_trees.verification.check_loss import Losses

    def numbers(seed: int, size: int, power: int) -> Any:
        r = np.random.default_rng(seed)
        X, w = r.integers(0, 2, (6, 3)), np.array(r.integers(0, 4, 6).tolist(), dtype=object)
        w[0] = 1
        y = np.array([[int(x * size) for x in row] for row in r.random((6, 1 + seed % 2))], object)
        minima = [(2, np.ones(6, np.int64)), (1, np.arange(6))][: seed % 3]
        of = Losses(X, w, y, power, seed % 4, [0, 1, seed], minima)
        sums = of.weights.T @ (r.random((len(of.weights), 20)) < 0.5)
        return [x.tolist() for x in (of.base, of.regret, of.weights, of.saved(sums[1:]))]

    for seed in range(6):
        for size in (5, 2**20, 2**49, 2**60, 2**90, 2**120):
            fits = 45 - 2 * size.bit_length()
            for power in (fits, fits - 20, fits + 12):
                yield f"numbers-{seed} {size} {power}", partial(_said, numbers, seed, size, power)


def _losses() -> Asked:
    from milp_trees.verification import check_loss

    yield from _instances()
    yield from _loss_tables(check_loss.check)
    yield from _sharp(check_loss.check)
    for name, text in _loss_texts():
        yield name, partial(_said, check_loss.check, text)


def _slow_losses() -> Asked:
    from milp_trees.verification.reference_checker.losses import report_loss

    yield from _loss_tables(report_loss)
    yield from _sharp(report_loss)
    for name, text in _loss_texts():
        yield name, partial(_said, report_loss, text)


def _count_texts(many: int) -> Iterator[tuple[str, list[str]]]:
    import random

    from proof_listed import count_of, larger
    from test_two_checkers import counted

    for seed in range(many):
        if (made := counted(random.Random(seed))) is not None:
            yield f"count-{seed}", made[0]
    for seed in range(many // 2):
        rng = random.Random(seed)
        yield f"larger-count-{seed}", count_of(rng, larger(rng, gap=False))


def _gap_texts(many: int) -> Iterator[tuple[str, list[str]]]:
    import random

    from proof_listed import gap_to, larger
    from test_gap_proofs import tree
    from test_two_checkers import closed_gap

    for seed in range(many):
        if (made := closed_gap(random.Random(seed))) is not None:
            yield f"gap-{seed}", made[0]
    for seed in range(many // 2):
        rng = random.Random(seed)
        s = larger(rng, gap=True)
        text = gap_to(rng, [tree(rng, s, s["depth"]) for _ in range(40)], s)
        if text is not None:
            yield f"larger-gap-{seed}", text


def _counts() -> Asked:
    from milp_trees.verification import check_count

    for name, text in _count_texts(20):
        s, least = json.loads(text[0]), json.loads(text[-1])
        more = {"offset": "-7/2", "scale": "3/4" if len(name) % 2 else "-2", "unit": "errors"}
        stated = [json.dumps(s | more), *text[1:-1]]
        for k in range(8):
            changed = json.dumps({**least, "count": k})
            yield f"{name} in units with {k}", partial(_said, check_count.check, [*stated, changed])
    for name, text in _count_texts(160):
        yield name, partial(_said, check_count.check, text)


def _gaps() -> Asked:
    from milp_trees.verification import check_gap

    for name, text in _gap_texts(160):
        yield name, partial(_said, check_gap.check, text)


def _flow_texts(many: int) -> Iterator[tuple[str, list[str]]]:
    """Proofs of prunings and of curves, honest and damaged."""
    import random

    from test_flow_proofs import PROVABLE, curve_lines, damaged, damaged_curve, written

    with tempfile.TemporaryDirectory() as folder:
        single = {name: written(name, Path(folder))[1] for name in PROVABLE}
        curves = {name: curve_lines(name, Path(folder))[1] for name in PROVABLE}
    yield from ((f"flow of {name}", text) for name, text in single.items())
    for name, curve in curves.items():
        yield f"curve of {name}", [json.dumps(line) for line in curve]
    for seed in range(many):
        rng = random.Random(seed)
        s, flow = damaged(rng.choice(list(single.values())), rng)
        yield f"flow-{seed}", [json.dumps(line) for line in (s, *flow)]
        long = rng.choice([c for c in curves.values() if len(c) > 3])
        changed = damaged_curve(json.loads(json.dumps(long)), rng)
        yield f"curve-{seed}", [json.dumps(line) for line in changed]


def _flows() -> Asked:
    from milp_trees.pruning.verification import check_flow

    for name, text in _flow_texts(1000):
        yield name, partial(_said, check_flow.check, text)


def _matrices() -> Asked:
    """Proofs about matrices, for the matrix itself and for one that differs in an entry."""
    import random

    import numpy as np
    from test_unimodular_proofs import changed, named, stated
    from unimodular_matrices import R10, random_case

    from milp_trees.unimodular import check_unimodular

    yield from _model_files()
    yield from _two_sums()
    rng, draw = np.random.default_rng(1), random.Random(1)
    for number in range(60):
        a = R10 if number % 20 == 0 else random_case(rng, number % 4)
        proof = stated(a)
        yield f"matrix-{number}", partial(_said, check_unimodular.check, proof, named(a))
        for k in range(12):
            b = a.copy()
            if draw.random() < 0.5:
                i, j = draw.randrange(a.shape[0]), draw.randrange(a.shape[1])
                b[i, j] = draw.choice([x for x in (-1, 0, 1) if x != b[i, j]])
            lie = changed(proof, draw) if draw.random() < 0.7 else proof
            yield f"matrix-{number}-{k}", partial(_said, check_unimodular.check, lie, named(b))


def _model_files() -> Asked:
    """Matrices in the forms of files that are read."""
    import io

    from scipy import sparse
    from unimodular_matrices import R10

    from milp_trees.unimodular import check_unimodular

    for form in ("csr", "csc", "coo"):
        packed = io.BytesIO()
        sparse.save_npz(packed, sparse.csr_matrix(R10[:4]).asformat(form))
        yield f"npz {form}", partial(_matrix_of, check_unimodular.read_npz, packed.getvalue())
    for k, text in enumerate(MPS):
        yield f"mps {k}", partial(_matrix_of, check_unimodular.read_mps, text.encode())


def _two_sums() -> Asked:
    """A sum of three matrices, and all that differ from it in one entry, with its proof."""
    import numpy as np
    from test_unimodular_proofs import named, stated
    from unimodular_matrices import R10, two_sum

    from milp_trees.unimodular import check_unimodular

    a = two_sum(two_sum(R10, R10), R10)
    proof = stated(a)
    yield "two-sum", partial(_said, check_unimodular.check, proof, named(a))
    for i, j in np.ndindex(a.shape):
        b = a.copy()
        b[i, j] = 0 if b[i, j] else 1
        yield f"two-sum-{i}-{j}", partial(_said, check_unimodular.check, proof, named(b))


def _tables(check: Callable[..., Any]) -> Asked:
    """A proof about a table with gaps and a decimal comma, and tables and statements beside it."""
    import random

    from proof_problems import drawn

    table = 'made by hand\nage;job;ill\n1,5;"a;b";yes\n2,5;c;no\n\n;c;no\n'
    form = {"kind": "table", "skip": 2, "names": ["age", "job", "ill"], "delimiter": ";"}
    form |= {"quote": '"', "encoding": "utf-8", "decimal": ",", "missing": [""], "gzip": False}
    costs = {"kind": "matrix", "column": "ill", "classes": ["no", "yes"]}
    s = drawn(random.Random(0), "lists") | {
        **{"depth": 2, "leaves": None, "leaf_cost": 0, "split_costs": 1, "minima": [], "side": []},
        **{"data": form, "costs": {**costs, "matrix": [[0, 4], [4, 0]]}, "multipliers": []},
        **{"features": [[["age", "<=", 2, "no", True], ["job", "==", "c", None, False]]]},
        **{"actions": ["no", "yes"], "denominator": 1, "scale": "1/4", "unit": "errors"},
        **{"model": {"rules": [[0, 1]], "default": 0}, "value": 1, "bound": 1},
    }
    literals = [["age", "<=", 2, None, True], ["age", "missing", None, None, True]]
    literals += [["job", "==", "c", "yes", True], ["age", "<=", 2, "yes", False]]
    changes: list[dict[str, Any]] = [
        {},
        {"data": {**form, "skip": 1}},
        {"data": {**form, "skip": 0}},
    ]
    changes += [
        {"data": {**form, k: v}} for k, v in (("decimal", "."), ("missing", []), ("quote", None))
    ]
    changes += [{"features": [[one]]} for one in literals] + [{"split_costs": [1, 1]}]
    folder = Path(FOLDER.name)
    for k, old in enumerate(["", "1,5", "2,5", "yes", "c;no", "age", "made by hand\n"]):
        path = folder / f"{k}.csv"
        path.write_text(table.replace(old, "3", 1) if old else table, encoding="utf-8")
        for j, change in enumerate(changes):
            text = [json.dumps(s | change), "[1, 2, []]"]
            yield f"table {k} statement {j}", partial(_said, check, text, path)


def _read() -> Asked:
    """Files of all kinds, and lines that are no such files."""
    import random

    from checker_files import made
    from test_lock import edited, garbled

    from milp_trees.verification import check_proof

    yield from _tables(check_proof.check)
    yield from _claims()
    for seed in range(500):
        rng = random.Random(seed)
        for text in made("honest", seed % 60):
            k = rng.choice([0, 0, rng.randrange(len(text))])
            lines = [*text[:k], rng.choice([edited, garbled])(text[k], rng), *text[k + 1 :]]
            yield f"malformed-{seed}", partial(_said, check_proof.check, lines)
    yield from _counts()
    yield from _flows()
