"""The tables of docs/benchmarks, one text per section, from the CSV files in `results`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import _engine_tables
import cost_sensitive
import estimators
import pandas as pd
import policies
import pruning_table1

from milp_trees.studies.measures.summary import MEASURES

RESULTS = Path(__file__).parent / "results"
#: Measures of the published-style study.
PUBLISHED = ("runs", "solved", "sgm", "par10", "fastest", "gap", "value", "primal-dual")


def cell(row: pd.Series) -> str:
    if row.status == "optimal":
        return f"**{row.seconds:.1f} s**"
    if row.status == "feasible":
        return f"{row.bound:.0f}" if pd.notna(row.bound) else "–"
    return row.status


def pivot(table: pd.DataFrame) -> str:
    """Sets × methods: seconds in bold where the optimum was proven, otherwise the bound reached."""
    table = table.assign(cell=table.apply(cell, axis=1))
    wide = table.pivot(index=["set", "optimum"], columns="method", values="cell").fillna("")
    wide = wide[
        sorted(wide.columns, key=lambda m: (m != "state-flow@highs", m != "path-cut@highs", m))
    ]
    return markdown(wide.reset_index())


def markdown(table: pd.DataFrame) -> str:
    def text(value: object) -> str:
        return f"{value:g}" if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join(map(str, table.columns)) + " |", "|" + "---|" * len(table.columns)]
    lines += [
        "| " + " | ".join(text(v) for v in row) + " |" for row in table.itertuples(index=False)
    ]
    return "\n".join(lines)


def section(title: str, command: str, text: str, table: str) -> str:
    return f"## {title}\n\n```bash\n{command}\n```\n\n{text}\n\n{table}\n"


def published() -> Iterator[str]:
    """The aggregates of `published_short.toml`, once they are measured."""
    path = RESULTS / "published_short.csv"
    if not path.exists():
        return
    table = pd.read_csv(path).sort_values(["depth", "solved", "sgm"], ascending=[True, False, True])
    table.columns = [MEASURES[name].title if name in MEASURES else name for name in table.columns]
    yield section(
        "All formulations, four solvers and three peers, depths 2 and 3, 3 s",
        "python benchmarks/peers/environments.py\n"
        "milp-trees study benchmarks/published_short.toml --jobs 1 --store published_short.db\n"
        f"milp-trees table published_short.db --by variant,depth --measure {','.join(PUBLISHED)} --style csv --out benchmarks/results/published_short.csv\n"
        "milp-trees report published_short.db -o benchmarks/results/published_short.html",
        "One row per method and depth over the 14 sets of `classification/` with at most 1000 rows, no start; what the columns are is in [studies.md](../guide/studies.md#aggregates). "
        "`published.toml` is the study in full: depth 2 and 3, three seeds, 60 s. Cut here are two of the seeds, 57 of the 60 seconds, and state-flow-reduced. "
        "The last command writes a page with every run, which is not stored here: open it in a browser. "
        "The runs had one core to themselves; the other core of the machine was busy.",
        markdown(table.round(2).astype(object).fillna("")),
    )


ENGINE_TEXTS = {
    "accuracy": "Fewest errors at the depth. The first table sums up, the second has every case, the third is in the form of table 10 of the STreeD paper "
    "(van der Linden, de Weerdt, Demirović 2023).",
    "costs": "`matrix`: the confusion costs (high) of the first training split of every cost-sensitive set, test costs left out because they depend on the path; "
    "`per row`: run times of eight solvers on MaxSAT instances, choose the fastest. pystreed's tasks `cost-sensitive` and `instance-cost-sensitive`.",
    "weights": "Every row weighs 1 to 10; pystreed gets the weights as costs per row.",
    "min-leaf": "pydl8.5 0.1.8 is not in the table, because it misses optima here: its algorithm for depth two (`depth_two_special_algo`) does not keep the minimum support, and its similarity bound is not valid with one ([peers](../project/peers.md)).",
    "f1": "F1 of class 1: ours by ratio steps, `front` by the whole front of false positives and negatives (method `pareto`), which is what pystreed does too. The last table is in "
    "the form of table 7 of the STreeD paper.",
    "sparse": "Share of errors plus λ per leaf. gosdt calculates in single precision; its trees are valued by us. pystreed needs a depth limit.",
    "threads": "Wall seconds of the whole call; here the load of the machine counts.",
    "long": "What no engine is known to prove, ten minutes each.",
    "start": "Seconds. `cold` starts without compiled kernels, `cached` finds those of `cold`; the libraries underneath (numba, pandas, SciPy, scikit-learn) are imported "
    "before the clock starts, except in the third line. `import` is that of the package; `second` is the same problem again. `first, processor` does not depend on the load of the machine.",
}


ENGINES_READ = (
    "One thread, every engine in a process of its own and warm, in turns; medians. Seconds are processor seconds of preparation and search (`s`), because other jobs "
    "stretch wall time; `/ peer` is ours over theirs, `call / peer` the same for the whole call from arrays to tree, with all checks of both. `>`: ended by the limit; "
    "`<`: the peer was, so the true ratio is smaller. Values are recomputed from the trees. MB is the largest resident memory of the process, interpreter and libraries "
    "included."
)


def engines() -> Iterator[str]:
    """The sections of `engines.py`."""
    for name, title, tables in _engine_tables.sections(
        _engine_tables.read(RESULTS / "engines.csv"), RESULTS / "start.csv"
    ):
        none = '""'
        command = f"python benchmarks/engines.py --peers {_engine_tables.peers(name) or none} --sections {name}"
        yield section(title, command, ENGINE_TEXTS[name], "\n\n".join(markdown(t) for t in tables))


def policy_trees() -> Iterator[str]:
    """The sections of `policies.py`."""
    tables = {n: RESULTS / f"policies_{n}.csv" for n in ("warfarin", "synthetic", "times")}
    if not all(path.exists() for path in tables.values()):
        return
    warfarin, synthetic, times = (pd.read_csv(path) for path in tables.values())
    texts = (
        (
            "warfarin",
            "The right treatment out of sample, percent: table 6 of the STreeD paper, on six of its splits (two of each way in which historic treatments were drawn).",
            [policies.right_by_depth(warfarin)],
        ),
        (
            "synthetic",
            "Depth 3, 500 training rows, means over five repetitions on 10 000 other rows: percent right (ties count), and the outcome that is lost per row.",
            [policies.by_p(synthetic, measure) for measure in ("right", "lost")],
        ),
        (
            "times",
            "Ours over theirs, geometric means of processor seconds: preparation and search, and the whole call. policytree's search is built without R (see the script).",
            [policies.ratios(times)],
        ),
    )
    for name, text, parts in texts:
        command = f"python benchmarks/policies.py --sections {name}"
        if name == "times":
            command += " --policytree ./search"
        shown = "\n\n".join(markdown(part) for part in parts)
        yield section(f"Policy trees: {name}", command, text, shown)


def cost_sensitive_trees() -> Iterator[str]:
    """The sections of `cost_sensitive.py`."""
    paths = [RESULTS / f"cost_sensitive_{name}.csv" for name in ("tables", "times", "tuned")]
    if not all(path.exists() for path in paths):
        return
    tables, times, tuned = map(pd.read_csv, paths)
    yield section(
        "Cost-sensitive trees: normalised costs",
        "python benchmarks/cost_sensitive.py --sections tables",
        "Test rows, percent, trees of depth up to 4 whose number of leaves is chosen by cross-validation, as in tables 2 to 4 of the STreeD paper. That has means over 100 splits; here "
        "are means over three of them, ± their standard errors, and one split (no ±) of krk and mushroom. Six of the paper's 14 sets are transcribed "
        "([the numbers of papers](../../benchmarks/papers/values.csv)). The second table has the differences, ours minus the paper's, and these in standard errors of three splits, which are themselves uncertain: "
        "three splits cannot confirm or refute the paper's means. Ours is far above them on annealing, and below them on most of glass and wine. "
        "The paper's question length is larger than its depth, so it is another measure than the mean number of questions on a path.",
        "\n\n".join(
            map(
                markdown,
                (
                    cost_sensitive.costs_by_set(tables),
                    cost_sensitive.distances(tables),
                    cost_sensitive.shape(tables),
                ),
            )
        ),
    )
    yield section(
        "Cost-sensitive trees: is it the splits?",
        "python benchmarks/cost_sensitive.py --sections tuned",
        "On annealing and glass the difference to the paper is largest. pystreed, the paper's program, with its own choice of the size on the same three splits: percent, means. On annealing it has what is found here, so the difference to the paper is that of the splits; "
        "on glass the folds choose other sizes here, which on these splits costs less at the middle and high prices.",
        markdown(cost_sensitive.by_peer(tuned, tables)),
    )
    yield section(
        "Cost-sensitive trees: times",
        "python benchmarks/cost_sensitive.py --sections times",
        "Depth 4, `dp-paid` over pystreed, geometric means of processor seconds. Below them the runs on which the optima differ: there pystreed's tree costs more than its own without upper bounds (`pystreed_again`), which costs what ours does.",
        "\n\n".join(map(markdown, (cost_sensitive.ratios(times), cost_sensitive.differing(times)))),
    )


def pruned_forests() -> Iterator[str]:
    """The sections of `pruning_table1.py`."""
    table = pd.read_csv(RESULTS / "pruning_table1.csv")
    yield section(
        "Error and cost after pruning",
        "python benchmarks/pruning_table1.py",
        "Means over forests; `joint` and `individual` are the cost that is left, in percent of the unpruned forest's. Below, the two of the ten pairs of Table 1 of Nan, Wang and "
        "Saligrama (2016) that are transcribed ([the numbers of papers](../../benchmarks/papers/values.csv)); their forests, splits and error levels are not at hand, so only the "
        "direction can be compared.",
        "\n\n".join(
            map(markdown, (pruning_table1.shares(table), pruning_table1.beside_the_paper(table)))
        ),
    )


def roc_trees() -> Iterator[str]:
    """The ROC study of optimal trees for six objectives."""
    roc = RESULTS / "roc_fourclass.csv"
    if roc.exists():
        keep = [
            "objective",
            "status",
            "leaves",
            "seconds",
            "train_auc",
            "test_auc",
            "train_accuracy",
            "test_accuracy",
            "train_f1",
            "test_f1",
        ]
        text = "Optimal trees for six objectives, λ = 0.01 per leaf, depth 4, fourclass; every column is best where it was optimised, on the training rows, up to λ."
        yield section(
            "ROC of optimal trees",
            "python benchmarks/roc_fourclass.py",
            text,
            markdown(pd.read_csv(roc)[keep]),
        )


def accuracy_by_leaves() -> Iterator[str]:
    """Train and test accuracy against the number of leaves."""
    leaves = RESULTS / "accuracy_leaves.csv"
    if leaves.exists():
        mean = (
            pd.read_csv(leaves)
            .groupby(["set", "method", "setting"], sort=False)[["leaves", "train", "test"]]
            .mean()
            .round(3)
            .reset_index()
        )
        yield section(
            "Accuracy against leaves",
            "python benchmarks/accuracy_leaves.py",
            "Means over five folds, depth at most 5.",
            markdown(mean),
        )


def first_answers() -> Iterator[str]:
    """Defaults beside the greedy tree: errors, and over how many thresholds they are proven."""
    table = pd.read_csv(RESULTS / "first_answers.csv")
    table["errors"] = [
        f"**{r.ours}**" if r.status == "optimal" and r.thresholds == r.of else f"{r.ours}"
        for r in table.itertuples()
    ]
    table["set"] = [f"{r.thresholds} of {r.of}" for r in table.itertuples()]
    table["seconds"] = table["ours s"].map("{:.2f}".format)
    columns = ["table", "rows", "columns", "depth", "scikit-learn", "errors", "set", "seconds"]
    worse, better = (
        int((sign * (table["ours"] - table["scikit-learn"]) > 0).sum()) for sign in (1, -1)
    )
    yield section(
        "Training errors of defaults",
        "python benchmarks/first_answers.py",
        f"Errors on the training rows; in bold where no tree over all thresholds is better. {better} of {len(table)} answers are better than scikit-learn's, {worse} are worse. "
        "`thresholds` are those that were searched; `seconds` are those of `fit`, on a machine with two cores.",
        markdown(table[columns].rename(columns={"set": "thresholds"})),
    )


def fits() -> Iterator[str]:
    """`fit` beside `solve` and beside pystreed's `fit`, and predictions."""
    table = pd.read_csv(RESULTS / "estimators.csv")
    shown = estimators.ratios(table).round(2).astype(object).fillna("")
    yield section(
        "fit beside the search",
        "python benchmarks/estimators.py",
        f"Trees of depth {table['depth'][0]}, milliseconds of the processor, the least of up to {table['turns'].max()} turns in one process; no ratio where pystreed takes less than a millisecond. "
        + " ".join(estimators.summary(table)),
        markdown(shown),
    )
    columns = ["set", "rows", *estimators.PREDICTIONS]
    text = (
        "Milliseconds of the processor for all rows and for one, given as an array and as a frame."
    )
    shown = table[columns].round(2)
    yield section("predict", "python benchmarks/estimators.py", text, markdown(shown))


def stopped_runs() -> Iterator[str]:
    """Runs that a limit stopped beside those of smaller models."""
    table = pd.read_csv(RESULTS / "monotone_in_depth.csv")
    groups = table.groupby(["ladder", "limit"], sort=True)
    counts = groups.agg(
        sets=("set", "nunique"),
        runs=("value", "size"),
        proven=("proven", "sum"),
        worse=("its_value", "count"),
    )
    yield section(
        "Stopped runs beside runs for smaller models",
        "python benchmarks/monotone_in_depth.py --ladders dp,dp-sorted\n"
        "python benchmarks/monotone_in_depth.py --ladders dp-lists,dp-sizes,dp-leaves --limits 0.3,1",
        "`dp` and `dp-sorted` rise by depth, `dp-leaves` (`dp` with a largest number of leaves) and `dp-sizes` by leaves, `dp-lists` by rules, with three penalties per leaf or rule "
        "(`dp-sizes` without). `worse`: the value at the limit is worse than that of a smaller model that was proven within a third of it.",
        markdown(counts.reset_index()),
    )


def slowdown() -> Iterator[str]:
    """Time against the number of thresholds."""
    thresholds = RESULTS / "thresholds_slowdown.csv"
    if thresholds.exists():
        table = pd.read_csv(thresholds)
        table["cell"] = [_engine_tables.seconds(r) for _, r in table.iterrows()]
        wide = (
            table.pivot_table(
                index=["question", "tests"], columns="method", values="cell", aggfunc="first"
            )
            .fillna("")
            .reset_index()
        )
        text = "Processor seconds at depth 3 on the banknote data, all engines with the same thresholds; an engine that ran into the limit is not asked for more."
        yield section(
            "Time against thresholds",
            "python benchmarks/thresholds_slowdown.py",
            text,
            markdown(wide),
        )


def depth_two() -> Iterator[str]:
    """The sections of `depth2.toml`, from the rows of its study."""
    rows = pd.read_csv(RESULTS / "depth2.csv").rename(columns={"data": "set"})
    # Every run starts from the optimum.
    rows = rows.assign(optimum=rows.set.map(rows.groupby("set").objective.min()))
    groups = rows.name.str.partition("/")[0]
    part = lambda *names, limit: rows[groups.isin(names) & (rows.time_limit == limit)]  # noqa: E731
    command = "milp-trees study benchmarks/depth2.toml --store depth2.db\nmilp-trees table depth2.db --style csv --out benchmarks/results/depth2.csv"
    yield section(
        "Depth 2, every formulation on HiGHS, 20 s",
        command,
        "Seconds in bold: proven optimal; otherwise the bound that was reached. Every set of `classification/` with at most 1000 rows.",
        pivot(part("classification", limit=20)),
    )
    yield section(
        "Depth 2, HiGHS, 100 s",
        command,
        "The two formulations of ours on every set, the published ones on the two sets that they come nearest to closing.",
        pivot(part("classification", "closest", limit=100)),
    )
    yield section(
        "Depth 2, CBC and SCIP, 20 s", command, "As above.", pivot(part("four", limit=20))
    )
    peer = RESULTS / "depth2_odtlearn.csv"
    if peer.exists():
        table = pd.read_csv(peer).round(1).astype(object).fillna("")
        text = "A peer: odtlearn 1.1.0, FlowOCT with CBC, no start. Its trees are scored by us; it is stopped when it runs a tenth past its limit, which includes building. The rows below are of an earlier run on an idle machine, without that stop; failed: it had no tree and raised an error."
        yield section(
            "odtlearn's FlowOCT with CBC, depth 2, 20 s",
            "python benchmarks/peers/environments.py odtlearn\n"
            "milp-trees study benchmarks/odtlearn.toml --jobs 1 --store odtlearn.db\n"
            "milp-trees table odtlearn.db --style csv --columns data,objective,bound,status,seconds,load --out benchmarks/results/depth2_odtlearn.csv",
            text,
            markdown(table),
        )
    yield from published()
    keep = [
        "set",
        "method",
        "optimum",
        "root_bound",
        "bound",
        "status",
        "seconds",
        "rows",
        "nonzeros",
    ]
    yield section(
        "What each strengthening is worth",
        command,
        "Labels per test (`strengthen`) and rival cuts (`rivals`) of path-cut, merged rows (`merge_rows`: they carry the equivalent-points cuts), dropped tests "
        "(`drop_tests`). Nothing else differs.",
        markdown(part("ablation", limit=30)[keep].round(1).sort_values(["set", "method"])),
    )


def state_flow() -> Iterator[str]:
    """The section of `state_flow.toml`, from the rows of its study."""
    rows = pd.read_csv(RESULTS / "state_flow.csv")
    alone = rows[rows.method == "state-flow@highs"]
    exact = rows[rows.method == "dp"].set_index("name").objective
    keep = {
        "name": "problem",
        "data_rows": "rows",
        "data_tests": "tests",
        "variables": "columns",
        "build_seconds": "build",
        "hand_over_seconds": "hand_over",
        "solve_seconds": "solve",
        **{name: name for name in ("seconds", "objective", "bound", "status")},
    }
    table = alone[list(keep)].rename(columns=keep).assign(dp=alone.name.map(exact))
    yield section(
        "What state-flow proves alone",
        "milp-trees study benchmarks/state_flow.toml --store state_flow.db\nmilp-trees table state_flow.db --style csv --out benchmarks/results/state_flow.csv",
        "No start. Seconds of Pyomo build, hand-over and solve, and in all (with the enumeration of states); `dp` is the dynamic programme's optimum, where it takes the problem.",
        markdown(table.round(3).astype({"dp": "object"}).fillna("")),
    )
