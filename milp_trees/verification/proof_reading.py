"""Reads a proof's statement and its data for check_proof.py. Needs Python and numpy, nothing else.

Nothing is taken for granted: what is not exactly as the format says is refused.
"""
# mypy: ignore-errors
import csv, gzip, io, json, zlib
from fractions import Fraction
from typing import Any, NamedTuple
import numpy as np
# Absolute values of all numbers, and sums of costs, stay below it: double precision is exact there.
LIMIT = 2**52
# Bytes of a file, unpacked.
LARGEST = 2**30
FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError, MemoryError,
          OSError, EOFError, csv.Error, zlib.error)

class Wrong(Exception):
    """What does not follow, in a sentence, and the number of the claim (from 0) if it is one."""
    def __init__(self, sentence, claim=None):
        super().__init__(sentence)
        self.sentence, self.claim = sentence, claim

class Unreadable(Wrong):
    """The proof or the data are not as the format says."""

class Verdict(NamedTuple):
    """What a proof proves: `value` is Z of its model, `bound` that of all models at least."""
    proved: bool
    bound: int | None
    value: int | None
    sentence: str

def need(condition, sentence, error=Wrong):
    if not condition:
        raise error(sentence)

# Shapes of JSON by name: [all alike], [one, by, one], {keys}, and names with | between.
SHAPES = json.loads("""{
"Statement": {"format": "milp-trees-proof", "version": "One", "kind": "trees|lists",
  "depth": "Int|Null", "leaves": "Int|Null", "leaf_cost": "Int", "split_costs": "Int|Ints",
  "minima": [{"least": "Int", "amounts": "rows|Amounts"}], "data": "Table|Rows",
  "features": "Conjunctions|Texts", "costs": "Matrix|Listed", "side": ["Side"],
  "multipliers": "Ints", "denominator": "Int", "actions": "Texts", "offset": "Text",
  "scale": "Text", "unit": "Text", "model": "Any", "value": "Int|Null", "bound": "Int"},
"Claim": ["Int", "Int|Null", "Ints", "Ints|Null", "Int|Null"], "Node": ["Int", "Any", "Any"],
"Table": {"kind": "table", "skip": "Int", "names": "Texts", "delimiter": "Text|Null",
  "quote": "Text|Null", "encoding": "Text", "decimal": "Text", "missing": "Texts", "gzip": "Bool"},
"Rows": {"kind": "rows", "X": "Texts"}, "Conjunctions": [["Below|Equal|Other"]],
"Below": ["Text", "<=", "Number", "Null|yes|no", "Bool"],
"Equal": ["Text", "==", "Text", "Null|yes|no", "Bool"],
"Other": ["Text", "is|missing", "Null", "Null|yes|no", "Bool"],
"Rules": {"rules": [["Int", "Int"]], "default": "Int"}, "Amounts": {"listed": "Ints"},
"Matrix": {"kind": "matrix", "column": "Text", "classes": "Texts", "matrix": ["Ints"]},
"Listed": {"kind": "listed", "values": ["Ints"]}, "Ints": ["Int"], "Texts": ["Text"],
"Side": {"name": "Text", "coefs": "Listed|Matrix", "lower": "Int|Null", "upper": "Int|Null"}}""")
TYPES = {"Int": lambda x: type(x) is int and abs(x) < LIMIT, "Text": lambda x: type(x) is str,
         "Number": lambda x: type(x) in (int, float) and abs(x) < 1e300 and float(x) == x,
         "Any": lambda x: True,
         "Bool": lambda x: type(x) is bool, "Null": lambda x: x is None,
         "One": lambda x: type(x) is int and x == 1}

def fits(value: Any, shape: Any) -> bool:
    """Whether a value of JSON has a shape."""
    if isinstance(shape, dict):
        same = isinstance(value, dict) and value.keys() == shape.keys()
        return same and all(fits(value[key], shape[key]) for key in shape)
    if isinstance(shape, list):
        shapes = shape * len(value) if len(shape) == 1 and isinstance(value, list) else shape
        same = isinstance(value, list) and len(value) == len(shapes)
        return same and all(map(fits, value, shapes))
    if "|" in shape:
        return any(fits(value, name) for name in shape.split("|"))
    if shape in SHAPES:
        return fits(value, SHAPES[shape])
    return TYPES[shape](value) if shape in TYPES else type(value) is str and value == shape

class Table:
    """The data as columns of texts, read as the statement says."""
    def __init__(self, form: Any, data: Any) -> None:
        self.form, self.columns, self.read = form, {}, {}
        if form["kind"] == "rows":
            self.n = len(form["X"])
            return
        need(data is not None, "This proof needs the data file; give it after the proof.")
        lines = list(io.StringIO(unpacked(data).decode(form["encoding"]), newline=None))
        mark, quote, names = form["delimiter"], form["quote"], form["names"]
        need(form["skip"] >= 0, "The lines to skip are negative.")
        rows = lines[max(0, form["skip"] - 1):]
        if mark is not None:
            quoting = csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL
            rows = csv.reader(rows, delimiter=mark, quotechar=quote, quoting=quoting)
        rows = [[c.strip() for c in (r.split() if mark is None else r)] for r in rows]
        # The last line that is skipped is the header: columns are not called by other names.
        need(not form["skip"] or rows[:1] == [names], "The names are not those of the header.")
        cells = [r for r in rows[form["skip"] > 0:] if r not in ([], [""])]
        need(cells and {*map(len, cells)} == {len({*names})} == {len(names)}, "Columns differ.")
        self.n, self.columns = len(cells), dict(zip(names, zip(*cells)))

    def column(self, name: str, numbers: bool = True) -> Any:
        """Texts, or numbers (0 where the value is missing), and which values are missing."""
        need(name in self.columns, f"The data have no column {name!r}.")
        if (name, numbers) not in self.read:
            found, missing, mark = self.columns[name], {*self.form["missing"]}, self.form["decimal"]
            gone = [text in missing for text in found]
            if numbers:
                texts = found if mark == "." else [text.replace(mark, ".") for text in found]
                found = np.array([0 if g else float(t) for t, g in zip(texts, gone)], float)
                need(np.isfinite(found).all(), f"{name!r} has a number that is not finite.")
            self.read[name, numbers] = np.array(found, float if numbers else object), np.array(gone)
        return self.read[name, numbers]

    def costs(self, form: Any) -> Any:
        """Costs of the actions (or coefficients) on every row, n x K."""
        if form["kind"] == "matrix":
            number = {text: k for k, text in enumerate(form["classes"])}
            need(len(number) == len(form["classes"]) == len(form["matrix"]), "Classes are equal.")
            rows = [number[text] for text in self.column(form["column"], False)[0]]
        found = np.array(form["values"] if form["kind"] == "listed" else form["matrix"], np.int64)
        found = found if form["kind"] == "listed" else found[rows]
        need(found.ndim == 2 and len(found) == self.n and found.size, "Costs are no table.")
        return found

    def true(self, name, kind, value, missing, yes):
        """The rows on which a literal is true."""
        found, gone = self.column(name, kind in ("<=", "is"))
        if kind == "missing":
            return gone == yes
        need(missing or not gone.any(), f"No answer is stated where {name!r} is missing.")
        need(kind != "is" or np.isin(found, (0, 1)).all(), f"The column {name!r} is not 0/1.")
        answer = found <= value if kind == "<=" else found == (1 if kind == "is" else value)
        return np.where(gone, missing == "yes", answer) == yes

    def features(self, form: Any) -> Any:
        """The answers of all features, n x F."""
        if self.form["kind"] == "table":
            need(fits(form, "Conjunctions"), "Features of a table are conjunctions.")
            every = np.ones(self.n, bool)  # an empty conjunction holds everywhere
            found = [np.all([every, *(self.true(*x) for x in f)], axis=0) for f in form]
            return np.array(found, bool).reshape(len(form), self.n).T
        good = all(len(x) == len(form) and {*x} <= {"0", "1"} for x in self.form["X"])
        need(fits(form, "Texts") and good, "Rows are not one digit, 0 or 1, per feature.")
        return np.array([[digit == "1" for digit in x] for x in self.form["X"]])

def unpacked(path: Any) -> bytes:
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rb") as file:
        raw = file.read(LARGEST + 1)  # a small file may unpack to more than the memory
    if len(raw) > LARGEST:
        raise Unreadable(f"The file {path} holds more than {LARGEST} bytes.")
    return raw

def once(pairs: Any) -> dict[str, Any]:
    need(len({key for key, _ in pairs}) == len(pairs), "A key comes twice.", Unreadable)
    return dict(pairs)

def fraction(text):
    """A fraction `p/q`, or a whole number."""
    need(len(text) < 200, "The offset or the scale is too long.")
    return Fraction(*map(int, text.split("/")))

def read(proof_lines, data=None):
    """The statement, the claims, the priced problem as arrays, and what multipliers add."""
    try:
        s, *claims = [json.loads(x, object_pairs_hook=once) for x in proof_lines if x.strip()]
        for key, shape in SHAPES["Statement"].items():
            good = key in s and fits(s[key], shape)
            need(good, f"Its {key!r} is missing or malformed.", Unreadable)
        need(len(s) == len(SHAPES["Statement"]), "It has an unknown key.", Unreadable)
        table, q, lists = Table(s["data"], data), s["denominator"], s["kind"] == "lists"
        X, costs, split = table.features(s["features"]), table.costs(s["costs"]), s["split_costs"]
        split = [split] * X.shape[1] if fits(split, "Int") else split
        amounts = [np.array([1] * table.n if m["amounts"] == "rows" else m["amounts"]["listed"])
                   for m in s["minima"]]
        minima = [(m["least"], w) for m, w in zip(s["minima"], amounts)]
        side = [(table.costs(x["coefs"]), x["lower"], x["upper"]) for x in s["side"]]
        need(all(w.shape == (table.n,) for w in amounts), "Amounts are not one per row.")
        need(len(split) == X.shape[1], "Split costs are not one per feature.")
        need(q > 0 and len(s["multipliers"]) == len(side), "Multipliers are not one per side row.")
        need(all(c.shape == costs.shape for c, _, _ in side), "A side row has other actions.")
        need(len(s["actions"]) == costs.shape[1], "Actions are not one name per cost.")
        limits = s["depth"] or 0, 0 if s["leaves"] is None else s["leaves"] - 1
        need(min(limits) >= 0 and not (lists and s["leaves"]), "Limits allow no model.")
        need(s["unit"].isprintable(), "The unit is no plain text.")  # it is printed
        need([fraction(s[key]) for key in ("offset", "scale")][1], "The scale is zero.")
        # For models that keep the side rows, priced costs are at most q Z + shift: multipliers
        # mu > 0 count the upper limit, those below 0 the lower one.
        priced, shift = q * costs.astype(object), 0
        for mu, (coefs, lower, upper) in zip(s["multipliers"], side):
            limit = upper if mu > 0 else lower if mu < 0 else 0
            need(limit is not None, "A multiplier is about a limit that is not there.")
            priced, shift = priced + mu * coefs.astype(object), shift + mu * limit
        worth(s, X, costs, split, minima, side)
        s["about"] = about(s, *X.shape)
        if s["unit"] == "errors" and not s["leaf_cost"] and not any(split) and wrong_or_right(costs):
            need(natural(s) == [0, 1], "These costs count errors, but offset and scale do not.")
            s["counts errors"] = True
        priced, split = priced.astype(np.int64), np.array([q * x for x in split], np.int64)
        return s, claims, (X, priced, q * s["leaf_cost"], split, minima, s["kind"]), shift
    except FAULTS as reason:
        message = f"It is malformed ({type(reason).__name__}: {str(reason)[:200]})."
        raise Unreadable("".join(x if x.isprintable() else " " for x in message)) from None

def worth(s, X, costs, split, minima, side):
    """Check the value of the model on all rows, and that it keeps all limits."""
    tree, lists = s["model"], s["kind"] == "lists"
    Z, leaves, todo = 0, [], [] if tree is None else [(tree, np.arange(len(X)), 0)]
    if lists and todo:  # a rule list is a tree whose yes sides are leaves
        need(fits(tree, "Rules"), "The rule list is malformed.")
        tree, rules = tree["default"], tree["rules"]
        for f, action in reversed(rules):
            tree = [f, tree, action]
        todo = [(tree, np.arange(len(X)), 0)]
    while todo:
        node, rows, level = todo.pop()
        need(s["depth"] is None or level <= s["depth"], "The model is too deep.")
        if fits(node, "Int"):
            need(0 <= node < costs.shape[1], f"There is no action {node}.")
            leaves.append((rows, node))
            Z += s["leaf_cost"]
        else:
            need(fits(node, "Node") and 0 <= node[0] < len(split), "A node is malformed.")
            Z, yes = Z + split[node[0]], X[rows, node[0]]
            todo += [(node[2], rows[yes], level + 1), (node[1], rows[~yes], level + 1)]
    need(s["leaves"] is None or len(leaves) <= s["leaves"], "The model has too many leaves.")
    for rows, _ in leaves[lists:]:  # the first leaf of a list is its default rule
        for least, amounts in minima:
            need(sum(amounts[rows].tolist()) >= least, "A leaf of the model breaks a minimum.")
    for coefs, lower, upper in [(costs, None, None), *side] if leaves else []:
        total = sum(sum(coefs[rows, k].tolist()) for rows, k in leaves)
        Z += total if coefs is costs else 0
        kept = (lower is None or total >= lower) and (upper is None or total <= upper)
        need(kept, "The model breaks a side row.")
    value = Z if leaves else None
    need(s["value"] == value, f"The model has the value {value}, and the file says {s['value']}.")

def wrong_or_right(costs):
    """Whether every row has a right action that costs 0, and others that cost 1."""
    return ((costs == 0) | (costs == 1)).all() and (costs == 0).any(axis=1).all()

def about(s, n, F):
    """The limits, penalties, rows and tests of a statement, in words."""
    kind, price = ("rule", "rule") if s["kind"] == "lists" else ("leaf", "test")
    each = s["split_costs"] if fits(s["split_costs"], "Ints") else [s["split_costs"]]
    low, high = min(each, default=0), max(each, default=0)
    message = [f"at most {s['depth']} rules" if kind == "rule" else f"depth at most {s['depth']}"]
    message = message if s["depth"] is not None else [f"any {'length' if kind == 'rule' else 'depth'}"]
    most = "any number of" if s["leaves"] is None else f"at most {s['leaves']}"
    message += [] if kind == "rule" else [f"{most} leaves"]
    priced = f"{s['leaf_cost']} per leaf and {low if low == high else f'{low} to {high}'} per {price}"
    message.append(f"penalties {priced}" if s["leaf_cost"] or high else "no penalties")
    for x in s["minima"]:
        rows = "rows" if x["amounts"] == "rows" else "of a stated amount"
        message.append(f"at least {x['least']} {rows} in every {kind}")
    message += [f"{len(s['side'])} side constraints"] if s["side"] else []
    return f"{', '.join(message)}; {n} rows, {F} tests"

def natural(s):
    return [fraction(s[key]) for key in ("offset", "scale")]

def given(s):
    """What is said of the rows, and of a unit that the costs do not tell."""
    message = "" if "counts errors" in s else f"; unit, offset {s['offset']} and scale {s['scale']} "
    message += "of Z are as the file gives them" if message else ""
    rows = s.get("data", {}).get("kind") == "rows"
    return message + ("; the rows are those of the proof file" if rows else "")

def merged(X, table):
    """The first of each set of rows of X that are equal, and the sums of their rows of a table."""
    packed = np.packbits(X, axis=1)
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    total = np.zeros((len(first), *table.shape[1:]), np.int64)
    np.add.at(total, group.ravel(), table)
    return first, total

def shown(value):
    """A fraction in a sentence."""
    return f"{value}" if value.denominator == 1 else f"{float(value):.10g} ({value})"

def verdict(s: Any, bound: int) -> Verdict:
    """What a statement says if its bound is proved, in natural values."""
    value, (offset, scale) = s["value"], natural(s)
    least, found = (shown(offset + scale * Z) for Z in (bound, value or 0))
    model, less = "rule list" if s["kind"] == "lists" else "tree", "more" if scale < 0 else "less"
    message = f"(no {model} of this space has {less} than {least} {s['unit']}".rstrip()
    message += "" if value is None else f", and the {model} of the file has {found}"
    message += f"; the space: {s['about']}{given(s)})"
    head = f"proved: {least}" if value == bound else f"proved a bound only: {least}"
    return Verdict(value == bound, bound, value, f"{head}  {message}")

def run(check: Any, arguments: list[str], usage="Give a proof, and its data file.", most=2) -> int:
    """Print the verdict of a check of a proof file; the exit code."""
    try:
        need(1 <= len(arguments) <= most, usage)
        print(check(unpacked(arguments[0]).decode().split("\n"), *arguments[1:]).sentence)
    except FAULTS as reason:
        print(f"unreadable: {type(reason).__name__}: {reason}")
        return 2
    except Wrong as reason:
        print(f"{'unreadable' if isinstance(reason, Unreadable) else 'rejected'}: {reason}")
        return 2 if isinstance(reason, Unreadable) else 1
    return 0
