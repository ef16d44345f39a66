"""Writes docs/benchmarks, a page per question, from the CSV files that the scripts and studies of
this folder wrote.

    python benchmarks/report.py

Pictures are drawn too; a test compares the text of the pages with what this script makes.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import _number_tables as numbers
import _pictures
import _report_tables as tables
import pandas as pd
from _report_tables import RESULTS, markdown, section

FOLDER = Path(__file__).parents[1] / "docs" / "benchmarks"

HOW = """All runs: one thread of a virtual machine with two cores (AMD EPYC) that other jobs were using at the same time, so times are upper bounds and only rows of one
table can be compared. Each table names the command that measured it; `MILP_TREES_DATA` points to [the public data sets](../start/data.md). Pages and pictures are written by
`python benchmarks/report.py` from the files in `benchmarks/results`.
"""


def wrapped(text: str) -> str:
    """A text with its paragraphs in lines of at most 160 characters; tables and code stay as they are."""
    lines, code = [], False
    for line in text.split("\n"):
        code ^= line.startswith("```")
        if code or len(line) <= 160 or line.startswith(("|", "#", "!", "<")):
            lines.append(line)
            continue
        whole = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda m: m[0].replace(" ", "\0"), line)
        lines += [
            part.replace("\0", " ")
            for part in textwrap.wrap(whole, 160, break_long_words=False, break_on_hyphens=False)
        ]
    return "\n".join(lines)


@dataclass(frozen=True)
class Page:
    """A page of the site.

    Parameters
    ----------
    name : str
        Of the file and of its picture.
    question : str
        Its title.
    answer : str
        What was found, in a sentence or two.
    parts : callables
        Each gives sections.
    note : str, default=""
        How the tables are read.
    """

    name: str
    question: str
    answer: str
    parts: tuple[Callable[[], Iterable[str]], ...]
    note: str = ""

    @property
    def text(self) -> str:
        """The page, whole."""
        alt = _pictures.PICTURES[self.name][1]
        head = [f"# {self.question}", self.answer, f"![{alt}](pictures/{self.name}.svg)"]
        sections = [text.rstrip() for part in self.parts for text in part()]
        parts = [*head, *filter(None, [self.note]), *sections]
        return "\n\n".join(map(wrapped, parts)) + "\n"


def rows_of(name: str, title: str, command: str, text: str, **columns: str) -> Iterator[str]:
    """A section with the columns of a CSV file, under other names."""
    table = pd.read_csv(RESULTS / f"{name}.csv")
    keep = [c for c in columns if c in table.columns]
    shown = table[keep].rename(columns=columns)
    numbers = shown.select_dtypes("number").columns
    shown[numbers] = shown[numbers].round(4)
    yield section(title, command, text, markdown(shown.astype(object).fillna("")))


def mean_regret() -> Iterator[str]:
    """Means of the study of shortest paths."""
    rows = pd.read_csv(RESULTS / "spo_shortest_path.csv", skipinitialspace=True)
    keys = ["rows", "inner", "degree", "noise", "method", "depth"]
    mean = rows.groupby(keys, sort=False).test.mean().mul(100).round(2).unstack()
    mean = mean[sorted(mean.columns, key=lambda depth: (len(depth), depth))]
    yield section(
        "Regret on test rows, shortest paths",
        "python benchmarks/spo_shortest_path.py",
        "Normalised regret in percent, means over seeds; `inner` and `degree` say how far costs are from linear. More is in [the studies](../guide/spo_studies.md).",
        markdown(mean.reset_index().astype(object).fillna("")),
    )


def handing_over() -> Iterator[str]:
    """What `handover.py` printed."""
    printed = (RESULTS / "handover.txt").read_text().rstrip()
    yield f"## Handing a model over\n\n```bash\npython benchmarks/handover.py\n```\n\n```text\n{printed}\n```"


PAGES = (
    Page(
        "speed",
        "How fast is the exact search beside its peers?",
        "Where a peer takes more than a few milliseconds, `dp` took less time on nearly every case; below that both mostly prepare. Every optimum was compared: a value that differs "
        "stands in bold with an exclamation mark, as two of pystreed's do.",
        (tables.engines,),
        tables.ENGINES_READ,
    ),
    Page(
        "estimators",
        "What does fit cost beside the search?",
        "`OptimalTreeClassifier.fit` prepares, solves and counts; the tables say how much of it is the search, and how long pystreed's `fit` takes on the same arrays.",
        (tables.fits,),
        "Both find trees with the same errors on every set.",
    ),
    Page(
        "first_answers",
        "Is the first answer the best one?",
        "With nothing stated but the depth, `OptimalTreeClassifier` is never worse on its training rows than scikit-learn's greedy tree of that depth, and mostly proven over all "
        "thresholds of the table. Of 3725 runs under a time limit one was worse than a run for smaller trees.",
        (tables.first_answers, tables.stopped_runs),
        "Training errors say nothing of new rows. How thresholds are chosen is in [thresholds](../guide/thresholds.md).",
    ),
    Page(
        "formulations",
        "Which formulation is fastest, on which solver?",
        "`state-flow` proves all of these sets at depth 2, `path-cut` many; the published formulations prove none of them within 20 seconds on HiGHS, though all begin with the "
        "optimal tree: what is missing is the bound.",
        (tables.depth_two, tables.state_flow, handing_over),
        "In the depth-two tables every run of this package starts from the dynamic programme's tree, so every incumbent is the optimum and only the bounds differ; their rows were "
        "measured from several commits of one day.",
    ),
    Page(
        "thresholds",
        "What do thresholds cost?",
        "Time grows with the number of binary features, in peers faster than here. All midpoints of a continuous column are possible with `dp-sorted`, which sorts columns in the place "
        "of making features.",
        (
            tables.slowdown,
            lambda: rows_of(
                "continuous",
                "All midpoints: dp-sorted and ConTree",
                "python benchmarks/continuous.py",
                "Seconds to the proof, or what was known at the limit.",
                set="set",
                rows="rows",
                columns="columns",
                thresholds="thresholds",
                depth="depth",
                engine="engine",
                status="status",
                errors="errors",
                seconds="seconds",
            ),
        ),
    ),
    Page(
        "proofs",
        "What does a proof of optimality cost?",
        "Writing a proof takes at most five times as long as solving and 50 ms; that of a whole curve of prunings, one flow, is written about as fast as that of one pruning. Checking takes a fraction of a second at depth 3, where the checker only recomputes, and up to about a minute at depth 4 and 5. Over all midpoints it takes up to ten seconds at depth 2. At depth 3 (`--only midpoints-3 --limit 400`) five of the six tables that were tried take 2 to 191 s, and one more than 400 s. At depth 4 claims make it 3.8 to 134 times as fast as "
        "recomputing where that takes more than half a second; where it takes less, the start of Python counts. Fairness optima are those at 1 %, and thresholds of numeric columns are all midpoints.",
        (
            lambda: rows_of(
                "proofs",
                "Proofs of optimal trees and rule lists",
                "python benchmarks/proofs.py",
                "Seconds; rows and tests are those after presolve (of prunings the rows of the table, and the splits of the forest). `allowed` is five times the solve and 50 ms, `without` is the optimum recomputed by pair sums alone (empty: more than a minute, or deeper than 4), `ratio` how many times longer that takes.",
                kind="problem",
                set="set",
                rows="rows",
                tests="tests",
                value="optimum",
                solve="solve",
                emit="write",
                allowed="allowed",
                claims="claims",
                bytes="bytes",
                check="check",
                plain="without",
                cheaper="ratio",
                verdict="verdict",
            ),
        ),
        "The files, the rules and the checker are in [proofs](../guide/proofs.md).",
    ),
    Page(
        "prediction",
        "Do optimal trees predict better?",
        "On monk1 optimal trees of eight leaves are right on every test row, where greedy ones of any size reach 85 %; on car the two differ by less than a point, either way, and so they do with "
        "few leaves on both sets but for four leaves on monk1. Two small sets prove nothing about yours: choose the size by cross-validation.",
        (tables.accuracy_by_leaves, tables.roc_trees),
    ),
    Page(
        "rule_lists",
        "How fast are optimal rule lists?",
        "On COMPAS `dp-lists` proves in less than a second what the search of the paper does not prove in half a minute where a rule costs 0.0025; the engine `corels` here has that search's bounds, and is the faster one on adult, where many rows hold a little of the errors each.",
        (
            lambda: rows_of(
                "rule_lists_peers",
                "COMPAS, by the price of a rule",
                "python benchmarks/rule_lists.py --penalties 0.015,0.01,0.0075,0.005 --sections peers",
                "Processor seconds; `program` is the authors' C++ program.",
                penalty="λ",
                method="method",
                status="status",
                value="value",
                bound="bound",
                cpu="seconds",
                prefixes="prefixes",
            ),
            lambda: rows_of(
                "dp_lists_penalties",
                "dp-lists beside corels",
                "python benchmarks/dp_lists.py --part penalties --methods dp-lists,corels --limit 100",
                "Processor seconds; `sets` are sets of rows that are left.",
                problem="problem",
                method="method",
                antecedents="antecedents",
                status="status",
                value="value",
                bound="bound",
                seconds="seconds",
                prefixes="prefixes",
                sets="sets",
            ),
            lambda: rows_of(
                "dp_lists_adult",
                "The same on adult",
                "python benchmarks/dp_lists.py --part adult --methods dp-lists,corels --limit 40",
                "14 924 rows in 5142 classes of equal rows, 69 antecedents; processor seconds, a limit of 40 seconds of the clock on a machine that ran other jobs too.",
                problem="problem",
                method="method",
                antecedents="antecedents",
                status="status",
                value="value",
                bound="bound",
                seconds="seconds",
                prefixes="prefixes",
            ),
        ),
        "More is in [rule lists](../guide/rule_lists.md).",
    ),
    Page(
        "pruning",
        "How much cost does pruning a forest save?",
        "Pruned jointly, with features paid once for the whole forest, about the same error costs less than when every tree is pruned by itself.",
        (
            tables.pruned_forests,
            lambda: rows_of(
                "pruning",
                "Methods",
                "python benchmarks/pruning.py",
                "Processor seconds for one λ, or for all breakpoints.",
                forest="forest",
                splits="splits",
                method="method",
                value="value",
                cpu="seconds",
                breakpoints="breakpoints",
            ),
        ),
        "More is in [pruning](../guide/pruning.md).",
    ),
    Page(
        "decisions",
        "Do trees for decisions decide better?",
        "In most settings trees that are trained for what their decisions cost lose less on new rows than trees that predict costs, and exact ones less than greedy ones of the same depth. "
        "Without a limit on depth and with 10 000 rows, trees that predict costs lose less than greedy ones of the published rule.",
        (mean_regret,),
    ),
    Page(
        "policies",
        "How good are policy trees, and how fast?",
        "The three estimates find nearly equally good policies on the warfarin data, better ones with more depth.",
        (tables.policy_trees,),
    ),
    Page(
        "cost_sensitive",
        "What do trees cost whose questions have prices?",
        "The higher errors are priced, the more is worth asking, in the mean over the sets; on heart it is the other way round. Our three splits are too few to confirm or refute the paper's means.",
        (tables.cost_sensitive_trees,),
    ),
    Page(
        "fairness",
        "How fast are fair trees, and what does fairness cost?",
        "At depth 2 both are done in a fraction of a second; at depth 3 the bounds here save most of the time.",
        (
            lambda: rows_of(
                "fairness_tables",
                "Disparity at most one percent",
                "python benchmarks/fairness.py",
                "Errors, bound and processor seconds, ours and pystreed's, on six of the twelve sets of the STreeD paper; why the others are not here is in [fairness](../guide/fairness.md#measured).",
                set="set",
                rows="rows",
                depth="depth",
                rule="constraint",
                errors="errors",
                bound="bound",
                status="status",
                cpu="seconds",
                pystreed="pystreed errors",
                pystreed_status="pystreed status",
                pystreed_cpu="pystreed seconds",
            ),
            lambda: rows_of(
                "fairness_fronts",
                "Every disparity at once",
                "python benchmarks/fairness.py",
                "Corners of the curve of errors against disparity.",
                set="set",
                depth="depth",
                rule="constraint",
                corners="corners",
                complete="complete",
                errors="errors",
                disparity="disparity",
                cpu="seconds",
                message="note",
            ),
        ),
        "More is in [fairness](../guide/fairness.md).",
    ),
    Page(
        "regression",
        "How fast are optimal regression trees, and are they the best?",
        "From depth 4 on the search takes a fraction of pystreed's time, a tenth at depth 6; at depth 3 both take milliseconds. All trees of the nine sets are proven, and some that pystreed calls optimal are not: "
        "mostly by a little without penalties, and with them on every eighth random problem.",
        (
            numbers.regression_nine,
            numbers.regression_osrt,
            numbers.regression_more,
            numbers.regression_published,
            numbers.regression_models,
        ),
        "What is exact, and what optimal says, is in [trees that predict numbers](../guide/regression.md).",
    ),
    Page(
        "survival",
        "How fast are optimal survival trees, and how good?",
        "All ten sets are proven at depths 3 and 4, with pystreed's likelihoods; on small sets at depth 3 its whole call is the faster one, at depth 4 and on large sets ours. On new rows optimal trees order "
        "patients better than the greedy tree; its own curve per leaf has the lower Brier score than one hazard per leaf.",
        (numbers.survival_fit, numbers.survival_test),
        "What the trees are is in [trees that predict numbers](../guide/regression.md#survival).",
    ),
    Page(
        "scaling",
        "What if the table is large?",
        "A hundred million rows are grouped outside of memory into a million distinct ones; the search itself takes seconds.",
        (
            lambda: rows_of(
                "large_tables",
                "100 million rows",
                "python benchmarks/large_tables.py",
                "From files to the optimal tree of depth 4.",
                stage="stage",
                seconds="seconds",
                cpu_seconds="processor seconds",
                peak_memory_mb="peak MB",
                rows="rows",
                distinct_rows="distinct rows",
            ),
        ),
        "More is in [large tables](../guide/large_tables.md).",
    ),
)


def index() -> str:
    """The list of questions."""
    lines = [f"| [{page.question}]({page.name}.md) | {page.answer} |" for page in PAGES]
    names = "\n".join(page.name for page in PAGES)
    return (
        f"# What was measured\n\n{HOW}\n| question | in short |\n|---|---|\n"
        + "\n".join(lines)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def pages() -> dict[str, str]:
    """File → its text."""
    return {"index.md": index()} | {f"{page.name}.md": page.text for page in PAGES}


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"wrote docs/benchmarks/{name}")
    for page in PAGES:
        _pictures.draw(page.name)


if __name__ == "__main__":
    main()
