"""The pictures of docs/benchmarks: drawn from the CSV files in `results`, as small SVG files whose
text stays text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import _engine_tables
import pandas as pd
from _plots import COLOURS, ENGINES, figure

RESULTS = Path(__file__).parent / "results"
FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks" / "pictures"
OTHER = ("#777777", "o")


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv", skipinitialspace=True)


def speed(axes: Any) -> None:
    """Every case that both proved: their seconds across, ours up."""
    table = _engine_tables.read(RESULTS / "engines.csv")
    both = _engine_tables.pairs(table[table.section != "threads"])
    both = both[(both.status == "optimal") & (both.status_peer == "optimal")]
    for peer in ("pystreed", "pydl8.5", "gosdt"):
        part = both[both.method_peer == peer]
        if part.empty:
            continue
        colour, marker = ENGINES[peer]
        axes.plot(part.engine_peer, part.engine, marker, color=colour, ms=4, alpha=0.7, label=peer)
    low, high = 1e-4, 600
    axes.plot([low, high], [low, high], color="#777777", lw=0.8)
    axes.annotate("as fast", (30, 45), color="#777777", rotation=38)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    axes.set(xlabel="seconds of the peer", ylabel="seconds of milp-trees")
    axes.legend()


def estimators(axes: Any) -> None:
    """Processor milliseconds of both `fit`: pystreed's across, ours up."""
    rows = read("estimators")
    axes.plot(rows["pystreed"], rows["fit"], "o", color=COLOURS[0], ms=4)
    axes.plot([1, 3e3], [1, 3e3], color="#777777", lw=0.8)
    axes.annotate("as fast", (700, 1100), color="#777777", rotation=38)
    axes.set(xscale="log", yscale="log", xlabel="ms of pystreed's fit", ylabel="ms of fit")


def first_answers(axes: Any) -> None:
    """Training errors: those of the greedy tree across, ours up, in percent of the rows."""
    rows = read("first_answers")
    for (depth, part), colour in zip(rows.groupby("depth"), COLOURS, strict=False):
        greedy, ours = part["scikit-learn"] / part["rows"], part["ours"] / part["rows"]
        axes.plot(greedy * 100, ours * 100, "o", color=colour, ms=4, label=f"depth {depth}")
    axes.plot([0, 75], [0, 75], color="#777777", lw=0.8)
    axes.set(xlabel="% errors, scikit-learn's greedy tree", ylabel="% errors, first answer here")
    axes.legend()


def formulations(axes: Any) -> None:
    """Sets proven within 20 s at depth 2 on HiGHS, per formulation."""
    rows = read("depth2")
    rows = rows[rows.name.str.startswith("classification/") & (rows.time_limit == 20)]
    solved = (rows.status == "optimal").groupby(rows.method).mean().sort_values() * 100
    axes.barh([m.removesuffix("@highs") for m in solved.index], solved, color=COLOURS[0])
    axes.set(xlabel="% of the data sets proven within 20 s", xlim=(0, 100))


def thresholds(axes: Any) -> None:
    """Seconds against the number of binary features, per engine."""
    rows = read("thresholds_slowdown")
    rows = rows[(rows.question == "errors") & (rows.status == "optimal")]
    for name, part in rows.groupby("method"):
        colour, marker = ENGINES.get(str(name), OTHER)
        part = part.sort_values("tests")
        axes.plot(part.tests, part.engine, marker=marker, color=colour, ms=4, label=name)
    axes.set(xscale="log", yscale="log", xlabel="binary features", ylabel="seconds, depth 3")
    axes.legend()


def proofs(axes: Any) -> None:
    """Seconds to recompute without claims against those to check a proof."""
    rows = read("proofs")
    for kind, colour, marker in (("depth-3", COLOURS[0], "o"), ("depth-4", COLOURS[1], "s")):
        part = rows[(rows.kind == kind) & rows.plain.notna()]
        axes.plot(part.plain, part.check, marker, color=colour, ms=4, label=kind.replace("-", " "))
    low, high = 3e-3, 100
    axes.plot([low, high], [low, high], color="#777777", lw=0.8)
    axes.set(xscale="log", yscale="log", xlabel="seconds without claims", ylabel="seconds to check")
    axes.legend()


def prediction(axes: Any) -> None:
    """Mean accuracy on other rows against the mean number of leaves, a point per setting."""
    rows = read("accuracy_leaves").dropna(subset=["test", "leaves"])
    sets = rows.set.nunique()
    for name, part in rows.groupby("method"):
        by_set = part.groupby(["setting", "set"])[["leaves", "test"]].mean()
        groups = by_set.groupby("setting")
        mean = groups.mean()[groups.size() == sets].sort_values("leaves")
        colour, marker = ENGINES.get(str(name), OTHER)
        if len(mean):
            axes.plot(
                mean.leaves, mean.test * 100, marker=marker, color=colour, ms=4, label=name, lw=1
            )
    axes.set(xlabel="leaves (mean over sets and folds)", ylabel="% right on test rows")
    axes.legend()


def rule_lists(axes: Any) -> None:
    """Seconds against the price of a rule, on COMPAS."""
    rows = read("rule_lists_peers").replace({"program": "CORELS (C++)"})
    for (name, part), colour in zip(rows.groupby("method"), COLOURS, strict=False):
        part = part.sort_values("penalty")
        axes.plot(part.penalty, part.cpu, "o-", color=colour, ms=4, label=name)
    axes.set(yscale="log", xlabel="price of a rule, λ", ylabel="seconds to the proof")
    axes.invert_xaxis()
    axes.legend()


def pruning(axes: Any) -> None:
    """Cost that is left at little error, per data set: jointly and tree by tree."""
    rows = read("pruning_table1").query("trees == 90")
    wide = rows.pivot(index="data", columns="pruning", values="low error: cost %")
    for i, name in enumerate(("joint", "individual")):
        at = [x + 0.36 * (i - 0.5) for x in range(len(wide))]
        axes.bar(at, wide[name], 0.34, color=COLOURS[i], label=name)
    axes.set_xticks(range(len(wide)), wide.index)
    axes.set(ylabel="% of the forest's cost that is left", ylim=(0, 100))
    axes.legend()


def decisions(axes: Any) -> None:
    """Normalised regret on test rows against depth, for costs that are far from linear."""
    rows = read("spo_shortest_path")
    rows = rows[(rows.rows == 200) & (rows.inner == 3) & (rows.degree == 10)]
    names = sorted(set(rows.method), key=lambda n: ("forest" in n, n))
    for name, colour in zip(names, COLOURS, strict=False):
        part = rows[rows.method == name]
        if "forest" in name:
            axes.axhline(part.test.mean() * 100, color=colour, ls="--", lw=1, label=name)
        else:
            mean = part.groupby("depth").test.mean() * 100
            axes.plot(mean.index, mean, "o-", color=colour, ms=4, label=name)
    axes.set(xlabel="depth", ylabel="regret on test rows, %")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


def policies(axes: Any) -> None:
    """Share of patients who get the right dose, on test rows, by depth."""
    rows = read("policies_warfarin")
    for (name, part), colour in zip(rows.groupby("method"), COLOURS, strict=False):
        mean = part.groupby("depth").right.mean()
        axes.plot(mean.index, mean, "o-", color=colour, ms=4, label=name)
    axes.set(xlabel="depth", ylabel="% right on test rows")
    axes.set_xticks(sorted(set(rows.depth)))
    axes.legend()


def fairness(axes: Any) -> None:
    """Seconds to the fairest optimal tree within one percent: ours and pystreed."""
    rows = read("fairness_tables")
    for depth, marker, colour in ((2, "o", COLOURS[0]), (3, "s", COLOURS[1]), (4, "^", COLOURS[2])):
        part = rows[(rows.depth == depth) & (rows.status == "optimal")]
        part = part[part.pystreed_status == "optimal"]
        if len(part):
            axes.plot(
                part.pystreed_cpu, part.cpu, marker, color=colour, ms=5, label=f"depth {depth}"
            )
    low, high = 1e-3, 200
    axes.plot([low, high], [low, high], color="#777777", lw=0.8)
    axes.set(
        xscale="log", yscale="log", xlabel="seconds of pystreed", ylabel="seconds of milp-trees"
    )
    axes.legend()


def scaling(axes: Any) -> None:
    """Seconds of every stage on a hundred million rows."""
    rows = read("large_tables")
    axes.barh(rows.stage[::-1], rows.seconds[::-1], color=COLOURS[0])
    axes.set(xlabel="seconds, 100 million rows")


def cost_sensitive(axes: Any) -> None:
    """Normalised cost on test rows by the level of the prices of errors."""
    rows = read("cost_sensitive_tables")
    levels = ["low", "middle", "high"]
    for _, part in rows.groupby("set"):
        mean = part.groupby("level").normalised_cost.mean().reindex(levels)
        axes.plot(levels, mean, color="#BBBBBB", lw=1)
    overall = rows.groupby("level").normalised_cost.mean().reindex(levels)
    axes.plot(levels, overall, "o-", color=COLOURS[0], label="mean")
    axes.set(xlabel="prices of errors", ylabel="normalised cost on test rows, %")
    axes.legend()


def survival(axes: Any) -> None:
    """Every case of the ten sets: pystreed's seconds across, ours up."""
    against_pystreed(axes, read("survival_fit"))


def regression(axes: Any) -> None:
    """Every case of the nine sets: pystreed's seconds across, ours up."""
    against_pystreed(axes, read("regression_nine"))


def against_pystreed(axes: Any, rows: pd.DataFrame) -> None:
    """Seconds of every case by depth."""
    for (depth, part), colour in zip(rows.groupby("depth"), COLOURS, strict=False):
        theirs, ours = part["pystreed seconds"], part["seconds"]
        axes.plot(theirs, ours, "o", color=colour, ms=4, label=f"depth {depth}")
    low, high = 1e-3, 200
    axes.plot([low, high], [low, high], color="#777777", lw=0.8)
    axes.annotate("as fast", (30, 45), color="#777777", rotation=38)
    axes.set(
        xscale="log", yscale="log", xlabel="seconds of pystreed", ylabel="seconds of milp-trees"
    )
    axes.legend()


#: Name of the picture → (how it is drawn, what it shows: the text for those who do not see it).
PICTURES: dict[str, tuple[Callable[[Any], None], str]] = {
    "speed": (speed, "Seconds of milp-trees against seconds of pystreed and gosdt, both axes logarithmic; nearly all points lie below the line of equal speed"),
    "estimators": (estimators, "Milliseconds of the processor that fit takes here against those of pystreed's fit at depth 3, a point per data set; below the line ours is the faster one"),
    "first_answers": (first_answers, "Training errors of the first answer here against those of scikit-learn's greedy tree of the same depth; no point lies above the line of equal errors"),
    "formulations": (formulations, "Share of data sets that every formulation proves at depth 2 within 20 seconds on HiGHS"),
    "thresholds": (thresholds, "Seconds at depth 3 against the number of binary features, per engine, both axes logarithmic"),
    "proofs": (proofs, "Seconds to check a proof against seconds to recompute the optimum without claims, both axes logarithmic"),
    "prediction": (prediction, "Accuracy on test rows against the number of leaves, for greedy and optimal trees"),
    "rule_lists": (rule_lists, "Seconds to the proof against the price of a rule, for dp-lists, the engine corels and the program CORELS"),
    "pruning": (pruning, "Share of a forest's cost that is left where the error is about that of the whole forest, for joint and individual pruning on three data sets"),
    "decisions": (decisions, "Regret on test rows against depth for CART, greedy and exact SPO trees, and for forests"),
    "policies": (policies, "Share of patients with the right dose on test rows against depth, for the direct method, IPW and doubly robust"),
    "fairness": (fairness, "Seconds of milp-trees against seconds of pystreed for fair trees of depth 2 and more, both axes logarithmic"),
    "scaling": (scaling, "Seconds of every stage from files with a hundred million rows to the optimal tree"),
    "regression": (regression, "Seconds of milp-trees against seconds of pystreed for optimal regression trees of depth 3 to 7, both axes logarithmic; all points but those of a few milliseconds lie below the line of equal speed"),
    "survival": (survival, "Seconds of milp-trees against seconds of pystreed for optimal survival trees of depth 3 and 4, both axes logarithmic; points of more than a few hundredths of a second lie below the line of equal speed"),
    "cost_sensitive": (cost_sensitive, "Normalised cost on test rows for low, middle and high prices of errors, for every data set and their mean"),
}  # fmt: skip


def draw(name: str) -> Path:
    """Draw one picture into its file."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "milp-trees"})
    drawn, grid = figure(1, 1, 5.6, 3.4)
    PICTURES[name][0](grid[0][0])
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.svg"
    drawn.savefig(path, format="svg", metadata={"Date": None})
    matplotlib.pyplot.close(drawn)
    path.write_text(
        "\n".join(line.rstrip() for line in path.read_text("utf-8").splitlines()) + "\n"
    )
    return path
