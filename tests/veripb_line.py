"""A small checker of the pseudo-Boolean proofs that are written here: one line `pol`, a conclusion.

It shares no code with the writer. A constraint is kept as VeriPB keeps it: positive coefficients of
literals, and the least sum of the literals that are true.
"""


class Refused(Exception):
    """The proof does not show what it concludes."""


def normal(terms, least):
    """A constraint sum a·x >= least with positive coefficients: ({literal: a}, least)."""
    sums = {}
    for a, literal in terms:
        sums[literal] = sums.get(literal, 0) + a
    out = {}
    for name in {literal.removeprefix("~") for literal in sums}:
        yes, no = sums.get(name, 0), sums.get("~" + name, 0)
        # yes·x + no·(1 - x) = no + (yes - no)·x, and -x = (1 - x) - 1
        least -= no
        a = yes - no
        if a < 0:
            least -= a
        if a:
            out[name if a > 0 else "~" + name] = abs(a)
    return out, least


def read_opb(text):
    """The objective and the constraints of a file whose constraints are all `>=`."""
    objective, rows = None, []
    for line in text.splitlines():
        if line.startswith("*"):
            continue
        words = line.split()
        if words[-1] != ";":
            raise Refused(f"no end of line: {line}")
        if words[0] == "min:":
            objective = list(zip(map(int, words[1:-1:2]), words[2:-1:2], strict=True))
            continue
        if words[-3] != ">=":
            raise Refused(f"no constraint: {line}")
        terms = zip(map(int, words[:-3:2]), words[1:-3:2], strict=True)
        rows.append(normal(list(terms), int(words[-2])))
    return objective, rows


def derived(words, rows, names):
    """The constraint that a line in reverse Polish notation derives."""
    stack = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        try:
            if word == "+":
                (a, low), (b, more) = stack.pop(), stack.pop()
                both = [(n, x) for part in (a, b) for x, n in part.items()]
                stack.append(normal(both, low + more))
            elif word == "s":
                terms, least = stack.pop()
                cut = {x: min(n, max(least, 0)) for x, n in terms.items()}
                stack.append(({x: n for x, n in cut.items() if n}, least))
            elif word.removeprefix("~") in names:
                stack.append(({word: 1}, 0))
            elif following in ("*", "d"):
                number, (terms, least) = int(word), stack.pop()
                if number < 1:
                    raise Refused(f"{word} {following}")
                if following == "*":
                    stack.append(({x: n * number for x, n in terms.items()}, least * number))
                else:
                    up = {x: -(-n // number) for x, n in terms.items()}
                    stack.append((up, -(-least // number)))
            elif word not in ("*", "d"):
                stack.append(rows[range(1, len(rows) + 1).index(int(word))])
        except (ValueError, IndexError) as wrong:
            raise Refused(f"{word} means nothing here ({wrong}).") from None
    if len(stack) != 1:
        raise Refused("The line does not end in one constraint.")
    return stack[0]


def implies(one, other):
    """Whether a constraint implies another one, over all points between 0 and 1."""
    (a, low), (b, least) = one, other
    terms, gap = normal([*((n, x) for x, n in b.items()), *((-n, x) for x, n in a.items())], 0)
    # The terms are at least 0, so the other sum is at least this one minus the gap.
    del terms
    return low - gap >= least


def check(opb, proof):
    """The bounds (low, up) of the objective that a proof concludes; Refused if it does not follow."""
    objective, rows = read_opb(opb)
    names = {x for _, x in objective} | {x.removeprefix("~") for row, _ in rows for x in row}
    head, count, pol, output, conclusion, end, *more = proof.splitlines()
    fixed = head, output, end, more
    if fixed != (
        "pseudo-Boolean proof version 3.0",
        "output NONE;",
        "end pseudo-Boolean proof;",
        [],
    ):
        raise Refused("It is no proof of version 3.0 with one line.")
    if count != f"f {len(rows)};" or not pol.startswith("pol ") or not pol.endswith(";"):
        raise Refused("The constraints are counted wrongly, or there is no line pol.")
    rows.append(derived(pol[4:-1].split(), rows, names))
    words = conclusion.rstrip(";").split()
    low, hint, up = int(words[2]), int(words[4]), int(words[5])
    if words[:2] != ["conclusion", "BOUNDS"] or (words[3], words[6]) != (":", ":"):
        raise Refused("There is no conclusion.")
    if hint != len(rows) or not implies(rows[-1], normal(objective, low)):
        raise Refused(f"The line does not imply that the objective is at least {low}.")
    true = set(words[7:])
    if {x.removeprefix("~") for x in true} != names or len(true) != len(names):
        raise Refused("The solution does not give every variable one value.")
    for terms, least in rows[:-1]:
        if sum(n for x, n in terms.items() if x in true) < least:
            raise Refused("The solution breaks a constraint.")
    if sum(n for n, x in objective if x in true) != up:
        raise Refused(f"The solution does not cost {up}.")
    return low, up
