"""Code that finds best trees of depth two from pair sums, and of depth one from column sums.

Root test i and lower test j give four cells: n11, n10 = n_i - n11, n01 = n_j - n11, n00 = n - n_i -
n01 (Demirović et al. 2022, *MurTree*). A cell costs min(0, its values), or `forbidden` if a mass is
too small. The side where i is true costs min over j of cell 11 + cell 10, the other one cell 01 +
cell 00. A pair serves both its tests as root, so the upper triangle suffices: the minima of test j
are kept in vectors over tests ("lanes"), those of test i as vectors that are reduced 32 bytes at a
time by a transposition ("rows").

With one value, no mass and no test costs a side's cost f(x) = min(0, x) + min(0, c - x) is concave
in x = n11 (or n01), so its minimum over j is at the smallest or largest x: only these extremes are
kept, two operations for each pair and side.

Lanes of padding hold zero sums: they equal a leaf and are harmless. A leaf on one side is tried
explicitly.
"""

# mypy: disable-error-code="import-untyped,no-untyped-def,no-untyped-call"

from typing import Any

from milp_trees.common.compiling.inside import ir
from milp_trees.common.compiling.reals import REAL, RealCode, floor_of
from milp_trees.common.compiling.vectors import I64, Code, largest
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.pair_layout import forbidden
from milp_trees.engines.dp.pair_sums_code import rounded


class _Values(Code):
    """Code of one evaluation: of a node, or of its sibling (parent minus node)."""

    def __init__(self, builder, table, bits, has_split, has_mass, one_value, sibling=False):
        super().__init__(builder, table, bits, 256 // bits)
        self._prepare(has_split, has_mass, one_value, sibling)

    def _prepare(self, has_split, has_mass, one_value, sibling):
        self.has_split, self.has_mass, self.one_value, self.sibling = (
            has_split,
            has_mass,
            one_value,
            sibling,
        )
        self.extremes = one_value and not (has_split or has_mass)
        self.F, self.S = self.slot(at.TESTS), self.slot(at.STRIDE)
        self.V = self.number(1) if one_value else self.slot(at.VALUES)
        self.U = self.sum(self.V, self.slot(at.MASSES)) if has_mass else self.V
        self.leaf = self.splat_long(self.slot(at.LEAF))
        self.row_bytes = self.sum((self.S, self.size))
        self.matrix = self.sum((rounded(self, self.F), self.row_bytes))
        self.blocks = self.builder.sdiv(self.sum(self.F, self.lanes - 1), self.number(self.lanes))

    def total(self, u):
        """Value u summed over all rows, in every lane."""
        total = self.load(self.sum(self.slot(at.TOTALS), (8, u)), I64)
        if self.sibling:
            total = self.builder.sub(
                self.load(self.sum(self.slot(at.PARENT_TOTALS), (8, u)), I64), total
            )
        return self.splat_long(total)

    def over(self, first, last, single, body):
        """body(u) for u from first to last - 1, at least once; the first one outside of a loop."""
        body(first)
        if not single:
            with self.loop(self.sum(first, 1), last) as u:
                body(u)

    def cells(self, sums, n):
        """Costs of n cells; `sums(u)` is the list of their sums of value u."""
        costs = [self.var(self.splat(0)) for _ in range(n)]

        def value(u):
            for cost, x in zip(costs, sums(u), strict=True):
                self.set(cost, self.smin(self.get(cost), x))

        self.over(self.number(0), self.V, self.one_value, value)
        if self.has_mass:
            self.over(self.V, self.U, False, lambda u: self.mind(costs, sums, u))
        return [self.get(cost) for cost in costs]

    def mind(self, costs, sums, u):
        """Forbid cells that have too little of mass u."""
        least = self.splat_long(
            self.load(self.sum(self.slot(at.LEAST), (8, self.sum(u, (self.V, -1)))), I64)
        )
        for cost, x in zip(costs, sums(u), strict=True):
            small = self.builder.icmp_signed("<", x, least)
            self.set(
                cost,
                self.builder.select(small, self.splat(forbidden(self.bits)), self.get(cost)),
            )

    @property
    def largest(self):
        """Larger than every value."""
        return largest(self.bits)

    def whole(self, value):
        """A value, or several, as int64."""
        if self.bits == 64:
            return value
        several = isinstance(value.type, ir.VectorType)
        return self.builder.sext(value, ir.VectorType(I64, self.lanes) if several else I64)

    def lowest_lane(self, value):
        return self.call("vector.reduce.smin", value, result=self.int)

    def split_costs(self, j):
        return self.load(self.sum(self.slot(at.SPLIT), (j, self.size)), self.vec)

    def finish(self, value_at, out, best, best_test):
        """Write the values of all tests to `out`, and the best one and its first test to slots."""
        lowest = self.var(self.splat(self.largest))
        # The largest number wherever there is no test, up to the stride.
        with self.loop(self.F, self.S) as j:
            self.store(ir.Constant(self.int, self.largest), self.sum(out, (j, self.size)))
        with self.loop(0, self.blocks) as block:
            j = self.sum((block, self.lanes))
            lane = self.builder.add(
                self.splat_long(j), ir.Constant(self.vec, list(range(self.lanes)))
            )
            real = self.builder.icmp_signed("<", lane, self.splat_long(self.F))
            value = self.builder.select(real, value_at(j), self.splat(self.largest))
            self.store(value, self.sum(out, (j, self.size)))
            self.set(lowest, self.smin(self.get(lowest), value))
        lowest = self.lowest_lane(self.get(lowest))
        test = self.var(self.number(-1))
        with self.loop(0, self.blocks) as block:
            j = self.sum(
                (self.sum(self.blocks, (block, -1), -1), self.lanes)
            )  # from the last block to the first
            equal = self.builder.icmp_signed(
                "==", self.load(self.sum(out, (j, self.size)), self.vec), self.splat(lowest)
            )
            equal = self.builder.zext(self.builder.bitcast(equal, ir.IntType(self.lanes)), I64)
            first = self.sum(j, self.builder.cttz(equal, ir.Constant(ir.IntType(1), 0)))
            self.set(
                test,
                self.builder.select(
                    self.builder.icmp_signed("!=", equal, self.number(0)), first, self.get(test)
                ),
            )
        self.set_slot(best, self.whole(lowest))
        self.set_slot(best_test, self.get(test))


class Pairs(_Values):
    """Depth two."""

    @property
    def start(self):
        """What the least is before any lower test has been seen: that of no split at all."""
        return forbidden(self.bits) if self.has_mass else 0

    def _prepare(self, *choices):
        super()._prepare(*choices)
        self.tests_at_once = 4 if self.extremes else 2
        self.better = (
            (self.smin, self.smax, self.smin, self.smax)
            if self.extremes
            else (self.smin, self.smin)
        )
        self.columns = self.slot(at.SCRATCH)
        self.by_lane = self.sum(self.columns, (self.U, self.row_bytes))
        self.by_row = self.sum(self.by_lane, (4, self.row_bytes))
        self.out = self.sum(self.by_row, 4 * self.lanes * 32)

    def write_best(self):
        """The best root test of all."""
        self.collect()
        out = self.slot(at.PER_TEST)
        out = (
            self.out
            if self.sibling
            else self.builder.select(
                self.builder.icmp_signed("!=", out, self.number(0)), out, self.out
            )
        )
        self.finish(
            self.value_at,
            out,
            *((at.REST, at.REST_TEST) if self.sibling else (at.BEST, at.BEST_TEST)),
        )

    def write_sides(self):
        """Both sides of every root test, with a leaf and with one split."""
        self.collect()
        out = self.sum(self.slot(at.SIDES_OUT), (8 * 4 * int(self.sibling), self.S))
        with self.loop(0, self.blocks) as block:
            j = self.sum((block, self.lanes))
            leaves, pairs = self.sides_at(j)
            for k, side in enumerate((leaves[1], pairs[1], leaves[0], pairs[0])):
                self.store(self.whole(side), self.sum(out, (8 * k, self.S), (8, j)))

    def collect(self):
        """The least that every test sees as root, over all lower tests."""
        builder = self.builder
        self.collect_columns()
        start = self.splat(self.start)
        with self.loop(0, self.blocks) as block:
            for q in range(len(self.better)):
                self.store(start, self.lane_address(q, self.sum((block, self.lanes))))
        with self.loop(0, self.blocks) as block:
            first = self.sum((block, self.lanes))
            with self.loop(
                first,
                self.smaller(self.sum(first, self.lanes), rounded(self, self.F)),
                self.tests_at_once,
            ) as i:
                self.step(i, first, None)
                rows = [[self.var(start) for _ in self.better] for _ in range(self.tests_at_once)]
                with self.loop(self.sum(block, 1), self.blocks) as right:
                    self.step(i, self.sum((right, self.lanes)), rows)
                for r, row in enumerate(rows):
                    for q, variable in enumerate(row):
                        self.store(
                            self.get(variable),
                            self.sum(
                                self.by_row,
                                32 * self.lanes * q,
                                32 * r,
                                (32, self.sum(i, (first, -1))),
                            ),
                        )
            with builder.if_then(builder.icmp_signed("<", self.sum(block, 1), self.blocks)):
                for q, better in enumerate(self.better):
                    address = self.lane_address(q, first)
                    self.store(better(self.load(address, self.vec), self.reduced_rows(q)), address)

    def collect_columns(self):
        """Diagonals of the pair sums, contiguous."""
        with self.loop(0, self.U) as u:
            column = self.sum(self.columns, (u, self.row_bytes))
            with self.loop(0, self.F) as j:
                diagonal = self.sum((u, self.matrix), (j, self.sum(self.row_bytes, self.size)))
                x = self.load(self.sum(self.slot(at.PAIRS), diagonal), self.int)
                if self.sibling:
                    x = self.builder.sub(
                        self.load(self.sum(self.slot(at.PARENT), diagonal), self.int), x
                    )
                self.store(x, self.sum(column, (j, self.size)))
            with self.loop(self.F, self.S) as j:
                self.store(ir.Constant(self.int, 0), self.sum(column, (j, self.size)))

    def lane_address(self, q, j):
        return self.sum(self.by_lane, (q, self.row_bytes), (j, self.size))

    def column(self, u, j, kind=None):
        return self.load(
            self.sum(self.columns, (u, self.row_bytes), (j, self.size)), kind or self.vec
        )

    def pair(self, u, i, j):
        offset = self.sum((u, self.matrix), (i, self.row_bytes), (j, self.size))
        x = self.load(self.sum(self.slot(at.PAIRS), offset), self.vec)
        return (
            self.builder.sub(self.load(self.sum(self.slot(at.PARENT), offset), self.vec), x)
            if self.sibling
            else x
        )

    def step(self, i, j, rows):
        """Pairs of some tests i, i + 1, ... with the lanes from j on.

        `rows` is None where the lanes hold these tests themselves.
        """
        lanes = [
            self.var(self.load(self.lane_address(q, j), self.vec)) for q in range(len(self.better))
        ]
        for r, seen in enumerate((self.step_extremes if self.extremes else self.step_cells)(i, j)):
            for variables, news in zip((lanes, rows[r] if rows else ()), seen, strict=True):
                for better, variable, new in zip(self.better, variables, news, strict=False):
                    self.set(variable, better(self.get(variable), new))
        for q, variable in enumerate(lanes):
            self.store(self.get(variable), self.lane_address(q, j))

    def step_extremes(self, i, j):
        """What the lanes and the rows see: n11 twice, and the cell of the other side twice."""
        sub, zero = self.builder.sub, self.number(0)
        nj = self.column(zero, j)
        for r in range(self.tests_at_once):
            n11 = self.pair(zero, self.sum(i, r), j)
            n10, n01 = (
                sub(self.splat(self.column(zero, self.sum(i, r), self.int)), n11),
                sub(nj, n11),
            )
            yield (n11, n11, n10, n10), (n11, n11, n01, n01)

    def step_cells(self, i, j):
        """What the lanes and the rows see: costs of the right and of the left side."""
        sub, add, tests = (
            self.builder.sub,
            self.builder.add,
            [self.sum(i, r) for r in range(self.tests_at_once)],
        )

        def sums(u):
            total, nj, cells = self.total(u), self.column(u, j), []
            for test in tests:
                n11, ni = self.pair(u, test, j), self.splat(self.column(u, test, self.int))
                n01 = sub(nj, n11)
                cells += [n11, sub(ni, n11), n01, sub(sub(total, ni), n01)]
            return cells

        costs = self.cells(sums, 4 * len(tests))
        for r, test in enumerate(tests):
            c11, c10, c01, c00 = costs[4 * r : 4 * r + 4]
            lanes, rows = (add(c11, c01), add(c10, c00)), (add(c11, c10), add(c01, c00))
            if self.has_split:
                upper = self.splat(
                    self.load(self.sum(self.slot(at.SPLIT), (test, self.size)), self.int)
                )
                lanes, rows = (
                    tuple(add(c, upper) for c in lanes),
                    tuple(add(c, self.split_costs(j)) for c in rows),
                )
            yield lanes, rows

    def reduced_rows(self, q):
        """The best of each of `lanes` vectors, in one vector.

        Vectors are interleaved in pairs and their halves combined, until one is left.
        """
        vectors = [
            self.load(self.sum(self.by_row, 32 * self.lanes * q + 32 * r), self.vec)
            for r in range(self.lanes)
        ]
        n, group, lanes = 128 // self.bits, 1, range(self.lanes)
        while len(vectors) > 1:
            if group < n:  # within 128 bits, where shuffles are cheap
                low = [
                    k // n * n
                    + k % n // (2 * group) * group
                    + k % group
                    + k // group % 2 * self.lanes
                    for k in lanes
                ]
                high = [k + n // 2 for k in low]
            else:
                low = [k % n + k // n * self.lanes for k in lanes]
                high = [k + n for k in low]
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [
                self.better[q](self.shuffle(a, b, low), self.shuffle(a, b, high)) for a, b in pairs
            ]
            group *= 2
        return vectors[0]

    def sides_at(self, j):
        """Costs of the right and of the left side of the tests from j on.

        They are the costs of a leaf there, and of the best tree with at most one split.
        """
        builder, add = self.builder, self.builder.add
        seen = [self.load(self.lane_address(q, j), self.vec) for q in range(len(self.better))]

        def sums(u):
            nj = self.column(u, j)
            return [nj, builder.sub(self.total(u), nj)]

        if self.extremes:
            sizes = sums(self.number(0))
            ends = [
                [add(self.cost(x), self.cost(builder.sub(n, x))) for x in seen[2 * k : 2 * k + 2]]
                for k, n in enumerate(sizes)
            ]
            seen = [self.smin(*pair) for pair in ends]
        leaves = [add(leaf, self.leaf) for leaf in self.cells(sums, 2)]
        return leaves, [
            self.smin(leaf, add(add(pair, self.leaf), self.leaf))
            for leaf, pair in zip(leaves, seen, strict=True)
        ]

    def value_at(self, j):
        """Costs of the best trees of depth two whose root tests are the lanes from j on."""
        builder, add = self.builder, self.builder.add
        leaves, sides = self.sides_at(j)
        value = add(*sides)
        if self.has_split:
            value = add(value, self.split_costs(j))
        if self.has_mass:
            # Where a leaf is too small, so is every leaf below it.
            least = add(self.splat(forbidden(self.bits)), self.leaf)
            bad = [builder.icmp_signed("==", leaf, least) for leaf in leaves]
            value = builder.select(builder.or_(*bad), self.splat(forbidden(self.bits)), value)
        return value

    def cost(self, x):
        return self.smin(self.splat(0), x)


class LeafPairs(RealCode, Pairs):
    """Depth two where leaves cost a function of sums, on doubles that hold whole numbers.

    `leaf` is the function with its number of sums.
    """

    def __init__(self, builder, table, _bits, has_split, has_mass, leaf, sibling=False):
        RealCode.__init__(self, builder, table, 4)
        self.leaf_of, self.n_sums = leaf
        self._prepare(has_split, has_mass, False, sibling)
        self.grid, self.margin = (self.splat(self.real_slot(k)) for k in (at.GRID, at.MARGIN))

    @property
    def largest(self):
        return 2.0**61

    @property
    def start(self):
        return float(forbidden(64))

    def whole(self, value):
        several = isinstance(value.type, ir.VectorType)
        return self.builder.fptosi(value, ir.VectorType(I64, self.lanes) if several else I64)

    def lowest_lane(self, value):
        return self.call("vector.reduce.fmin", value, result=self.int)

    def cells(self, sums, n):
        by_sum = [sums(self.number(u)) for u in range(self.n_sums)]
        costs = [
            self.var(
                floor_of(self, self.leaf_of, [cells[k] for cells in by_sum], self.grid, self.margin)
            )
            for k in range(n)
        ]
        if self.has_mass:
            self.over(self.V, self.U, False, lambda u: self.mind(costs, sums, u))
        return [self.get(cost) for cost in costs]


def _pairs(arguments, sibling=False):
    """The writer for integers, or for doubles and a leaf function."""
    writer: Any = LeafPairs if arguments[2] == REAL else Pairs
    return writer(*arguments, sibling)


def evaluate(*arguments):
    """EVALUATE: best trees of depth two of a node, and of the rest of its parent."""
    _pairs(arguments).write_best()
    with has_parent(arguments):
        _pairs(arguments, True).write_best()


def sides(*arguments):
    """SIDES: both sides of every root test of a node, and of the rest of its parent."""
    _pairs(arguments).write_sides()
    with has_parent(arguments):
        _pairs(arguments, True).write_sides()


def has_parent(arguments):
    node = Code(arguments[0], arguments[1], 64, 4)
    return node.builder.if_then(
        node.builder.icmp_signed("!=", node.slot(at.PARENT), node.number(0))
    )
