"""Checks that a matrix is (not) totally unimodular: python check_unimodular.py PROOF [MODEL]

PROOF is what `milp-trees unimodular --out` writes. MODEL is the file of the matrix: MPS, also
packed by gzip, or .npz of scipy.sparse.save_npz. A proof that holds its matrix needs none. The
file proof_reading.py must lie beside this one; numpy is needed, too. The rules, and why they are
valid, are in the documentation, page "Proofs".
Exit codes: 0 proved, 1 rejected, 2 unreadable.
"""
# mypy: ignore-errors
import io, json, re, sys
from fractions import Fraction
from typing import Any, NamedTuple
import numpy as np
if __package__:
    from milp_trees.verification import proof_reading as reading
else:
    import proof_reading as reading
FAULTS, Unreadable, Wrong, need = reading.FAULTS, reading.Unreadable, reading.Wrong, reading.need
#: Rows and columns of a matrix whose sets of lines are divided: at most 3^11 sums of lines.
MOST_LINES = 22
NUMBER = re.compile(r"[-+]?\d{1,1000}(\.\d{0,1000})?(/\d{1,1000})?([eE][-+]?\d{1,3})?")

class Matrix(NamedTuple):
    """A sparse matrix: its lines as {index: entry}, and the names of rows and of columns."""

    rows: Any
    columns: Any
    row_names: Any
    column_names: Any

    def part(self, rows, columns):
        """The submatrix of these lines, which must be there once each."""
        for lines, n in ((rows, len(self.rows)), (columns, len(self.columns))):
            need(reading.fits(lines, "Ints"), "Indices of lines are malformed.")
            good = len({*lines}) == len(lines) and all(0 <= i < n for i in lines)
            need(good, "A line is named twice, or does not exist.")
        at = {j: k for k, j in enumerate(columns)}
        found = [(k, j, x) for k, i in enumerate(rows) for j, x in self.rows[i].items() if j in at]
        names = [self.row_names[i] for i in rows], [self.column_names[j] for j in columns]
        return matrix(*names, [(k, at[j], x) for k, j, x in found])

def exact(x):
    """A number of a file; a text such as 1e999999999 would take an hour."""
    need(type(x) is not str or NUMBER.fullmatch(x), "A number is malformed.")
    return Fraction(x)

def matrix(row_names: Any, column_names: Any, entries: Any) -> Any:
    """A matrix from triples (row, column, entry)."""
    rows, columns = [{} for _ in row_names], [{} for _ in column_names]
    for i, j, x in entries:
        need(0 <= i < len(rows) and 0 <= j < len(columns), "An entry lies outside the matrix.")
        need(j not in rows[i], f"The entry ({i}, {j}) comes twice.")
        x = exact(x)
        if x:
            rows[i][j] = columns[j][i] = int(x) if x.denominator == 1 else x
    return Matrix(rows, columns, list(row_names), list(column_names))

def yes(A, stated):
    """Follow the proof that all square submatrices of A have determinant 0, 1 or -1."""
    need(isinstance(stated, dict), "A part of the proof is malformed.")
    need(stated.get("answer") == "yes", "A part of the proof has another answer than yes.")
    signs = all(x in (1, -1) for line in A.rows for x in line.values())
    need(signs, "The matrix has an entry that is not 0, 1 or -1.")
    proof, found = stated.get("proof"), stated.get("certificate")
    kind = found.get("kind") if isinstance(found, dict) else proof
    rules = {
        "network": lambda: paths(A.columns, A.row_names, found["arcs"]),
        "transposed network": lambda: paths(A.rows, A.column_names, found["arcs"]),
        "composition": lambda: composition(A, found["steps"], found["blocks"]),
        "2-sum": lambda: two_sum(A, found["row"], found["column"], found["summands"]),
        "difference rows": lambda: differences(A.rows),
        "difference columns": lambda: differences(A.columns),
        "consecutive ones (given order)": lambda: consecutive(A),
        "all subdeterminants": lambda: divided(A),
    }
    known = isinstance(kind, str) and kind in rules
    need(known, f"There is no rule for a proof of the kind {str(kind)[:40]!r}.")
    return rules[kind]()

def paths(lines, names, arcs):
    """Rule 1: every line is a signed path in a tree, or in one of several. `arcs` carry `names`.

    Weighted by a line's entries, the arcs must add up to nothing, or to one vertex minus another
    one: without cycles, only the path between these two does.
    """
    index = {name: i for i, name in enumerate(names)}
    need(len(index) == len(names), "Two lines have one name.")
    need(len(arcs) == len(names), "The arcs are not one per line.")
    ends, root = [None] * len(arcs), {}

    def root_of(v):
        while root.setdefault(v, v) != v:
            root[v] = v = root[root[v]]
        return v

    for arc in arcs:
        tail, head, i = arc["tail"], arc["head"], index.get(arc["carries"])
        need(i is not None and ends[i] is None, "An arc carries no line, or one that has an arc.")
        # Not a NaN, which equals nothing and has no root.
        need(type(tail) in (int, str) and type(head) in (int, str), "A vertex has no name.")
        ends[i] = tail, head
        tail, head = root_of(tail), root_of(head)
        need(tail != head, "The arcs contain a cycle.")
        root[tail] = head
    for j, line in enumerate(lines):
        total = {}
        for i, x in line.items():
            tail, head = ends[i]
            total[tail], total[head] = total.get(tail, 0) - x, total.get(head, 0) + x
        need(sorted(x for x in total.values() if x) in ([], [-1, 1]), f"Line {j} is no path.")
    return f"every line is a signed path in a tree of {len(arcs)} arcs"

def composition(A, steps, blocks):
    """Rule 2: reductions, then blocks that share no entry, each with a proof of its own."""
    lines = {"row": [dict(x) for x in A.rows], "column": [dict(x) for x in A.columns]}
    left = {axis: set(range(len(x))) for axis, x in lines.items()}
    crossing = {"row": "column", "column": "row"}
    for number, step in enumerate(steps):
        axis, i, kind = step["line"], step["index"], step["kind"]
        need(axis in lines and i in left[axis], f"Step {number} removes a line that is not there.")
        line = lines[axis][i]
        if kind == "copy":
            other, sign = step["other"], step["sign"]
            good = other in left[axis] and other != i and sign in (1, -1)
            good = good and line == {k: sign * x for k, x in lines[axis][other].items()}
        else:
            good = kind in ("zero", "unit") and len(line) == (kind == "unit")
        need(good, f"Step {number}, {str(step)[:100]}, is not allowed where it stands.")
        left[axis].discard(i)
        for k in line:
            del lines[crossing[axis]][k][i]
    for block in blocks:
        own = {"row": block["row_indices"], "column": block["column_indices"]}
        yes(A.part(own["row"], own["column"]), block)
        for axis, mine in own.items():
            inside, there = {*own[crossing[axis]]}, left[axis].issuperset(mine)
            good = there and all(inside.issuperset(lines[axis][i]) for i in mine)
            need(good, "A block has a line that was removed, or an entry outside.")
            left[axis].difference_update(mine)
    need(not any(left.values()), "A line is in no block.")
    return f"{len(steps)} reductions, then {len(blocks)} block{'s' * (len(blocks) != 1)}"

def two_sum(A, row, column, summands):
    """Rule 3: A = [[P, a b], [0, Q]], and there are proofs for [P a] and [b; Q]."""
    first, second = summands
    *P, last = first["column_indices"]
    top, (begin, *Q) = first["row_indices"], second["row_indices"]
    right = second["column_indices"]
    need(last == column and begin == row, "The summands do not hold the column and the row.")
    for part in summands:
        yes(A.part(part["row_indices"], part["column_indices"]), part)
    rows, columns = sorted(top + Q), sorted(P + right)
    every = rows == [*range(len(A.rows))] and columns == [*range(len(A.columns))]
    need(every and row in top and column in right, "The summands do not divide the lines.")
    corner = A.rows[row].get(column, 0)
    need(corner != 0, "The column and the row do not cross.")
    need(not any(j in A.rows[i] for i in Q for j in P), "The part that must be zero is not.")
    for i in top:
        a = A.rows[i].get(column, 0) * corner
        same = all(A.rows[i].get(j, 0) == a * A.rows[row].get(j, 0) for j in right)
        need(same, "The other part is not the product of the column and the row.")
    return "a 2-sum"

def differences(lines):
    """Rule 4: every line has at most one 1 and at most one -1."""
    good = all(sorted(line.values()) in ([], [1], [-1], [-1, 1]) for line in lines)
    need(good, "A line has two entries that are equal.")
    return "every line has at most one 1 and one -1"

def consecutive(A):
    """Rule 5: the entries of every row are side by side and equal; or those of every column."""

    def gapless(line):
        return not line or (max(line) - min(line) < len(line) and len({*line.values()}) == 1)

    good = any(all(map(gapless, lines)) for lines in (A.rows, A.columns))
    need(good, "The entries of a row and those of a column have gaps, or two signs.")
    return "the entries of every line are consecutive"

def divided(A):
    """Rule 6: every set of rows can be divided in two whose sums differ by 0, 1 or -1 everywhere.

    If there are fewer columns, they are divided.
    """
    lines, others = sorted((A.rows, A.columns), key=len)
    n = len(others)
    need(len(lines) + n <= MOST_LINES, f"More than {MOST_LINES} lines are not divided here.")
    sums, sets = np.zeros((1, n), np.int8), np.zeros(1, np.int64)
    for i, line in enumerate(lines):
        whole = np.zeros(n, np.int8)
        whole[list(line)] = list(line.values())
        sums = np.concatenate([sums, sums + whole, sums - whole])
        sets = np.concatenate([sets, sets | 1 << i, sets | 1 << i])
    even = {*sets[(abs(sums) <= 1).all(axis=1)].tolist()}
    need(len(even) == 2 ** len(lines), "A set of lines cannot be divided evenly.")
    return "every set of lines can be divided evenly"

def no(A, found):
    """The determinant of the submatrix of the proof, if it is not 0, 1 or -1."""
    need(isinstance(found, dict), "The proof names no submatrix.")
    part = A.part(found["rows"], found["columns"])
    n = len(part.rows)
    need(n == len(part.columns), "The submatrix is not square.")
    work = [[Fraction(row.get(j, 0)) for j in range(n)] for row in part.rows]
    stated = [[exact(x) for x in row] for row in found["entries"]]
    need(stated == work, "The submatrix has other entries than the matrix.")
    value = Fraction(1)
    for k in range(n):
        at = next((i for i in range(k, n) if work[i][k]), None)
        if at is None:
            value = Fraction(0)
            break
        value *= work[at][k] if at == k else -work[at][k]
        work[k], work[at] = work[at], work[k]
        for i in range(k + 1, n):
            if work[i][k]:
                factor = work[i][k] / work[k][k]
                work[i] = [x - factor * y for x, y in zip(work[i], work[k])]
    need(value not in (-1, 0, 1), f"The submatrix has the determinant {value}.")
    need(exact(found["determinant"]) == value, f"The determinant is {value}.")
    return value

def read_mps(raw):
    """The matrix of a model in MPS: constraints by columns, without objectives."""
    row_names, column_names, kinds, entries, section = {}, {}, {}, [], ""
    for line in raw.decode().splitlines():
        words = line.split()
        if not words or line[0] == "*":
            continue
        if not line[0].isspace():
            section = words[0].upper()
        elif section == "ROWS":
            kind, name = words
            need(name not in kinds, f"The row {name} comes twice.")
            kinds[name] = kind.upper()
            if kind.upper() != "N":
                row_names[name] = len(row_names)
        elif section == "COLUMNS" and "'MARKER'" not in words:
            j = column_names.setdefault(words[0], len(column_names))
            for name, value in zip(words[1::2], words[2::2], strict=True):
                need(name in kinds, f"The row {name} does not exist.")
                if kinds[name] != "N":
                    entries.append((row_names[name], j, float(value)))
    need(section == "ENDATA", "The model does not end with ENDATA.")
    return matrix(row_names, column_names, entries)

def read_npz(raw):
    """The matrix of a file of scipy.sparse.save_npz, in the formats csr, csc and coo."""
    found = np.load(io.BytesIO(raw))
    (m, n), form, data = found["shape"].tolist(), found["format"].item().decode(), found["data"]
    if form == "coo":
        i, j = found["row"], found["col"]
    else:
        need(form in ("csr", "csc"), f"The format {form} is not read.")
        j, sizes = found["indices"], np.diff(found["indptr"])
        i = np.repeat(np.arange(len(sizes)), sizes)
        i, j = (i, j) if form == "csr" else (j, i)
    triples = zip(i.tolist(), j.tolist(), data.tolist(), strict=True)
    return matrix([f"r{i}" for i in range(m)], [f"x{j}" for j in range(n)], triples)

def read_model(path):
    """The matrix of a model file."""
    raw = reading.unpacked(path)
    return read_npz(raw) if raw[:2] == b"PK" else read_mps(raw)

def check(stated: Any, model: Any = None) -> str:
    """Check a proof against a matrix, or against the one that it holds; Wrong if it fails."""
    try:
        need(isinstance(stated, dict), "It is no proof about a matrix.")
        own = stated.get("matrix")
        if own is not None:
            own = matrix(own["rows"], own["columns"], own["entries"])
            same = model is None or (own.rows, len(own.columns)) == (model.rows, len(model.columns))
            need(same, "The model has another matrix than the proof.")
        A = own or model
        if A is None:
            raise Unreadable("The proof does not hold its matrix; give the model file after it.")
        what = f"the {len(A.rows)} x {len(A.columns)} matrix"
        if stated["answer"] == "no":
            why = f"a submatrix has the determinant {no(A, stated['submatrix'])}"
            return f"proved: {what} is not totally unimodular  ({why})"
        if stated["answer"] != "yes":
            raise Unreadable("It holds no proof: its answer is neither yes nor no.")
        return f"proved: {what} is totally unimodular  ({yes(A, stated)})"
    except FAULTS as reason:
        raise Unreadable(f"It is malformed ({type(reason).__name__}: {reason}).") from None

def of_file(lines, model=None):
    """Check a file, given as lines of text; `model` is the file of its matrix."""
    stated = json.loads("\n".join(lines), object_pairs_hook=reading.once)
    message = check(stated, *([] if model is None else [read_model(model)]))
    return reading.Verdict(True, None, None, message)

def main(arguments):
    """Print the verdict; the exit code."""
    return reading.run(of_file, arguments, "Give a proof, and the file of its matrix.")

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
