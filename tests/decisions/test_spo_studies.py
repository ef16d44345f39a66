"""The studies of trees for decisions: published figures where they can be had, protocol, arithmetic
of improvements, resuming.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt

BENCHMARKS = str(Path(__file__).parents[2] / "benchmarks")


@pytest.fixture(scope="module")
def studies():
    """The scripts as modules; their folder is on the path only while they are loaded."""
    sys.path.insert(0, BENCHMARKS)
    try:
        import _spo
        import spo_news
        import spo_shortest_path
        import spo_two_roads
    finally:
        sys.path.remove(BENCHMARKS)
    return {"shared": _spo, "paths": spo_shortest_path, "roads": spo_two_roads, "news": spo_news}


def job(studies, **changes):
    given = {
        "rows": 100,
        "inner": 3.0,
        "outer": 1.0,
        "degree": 10.0,
        "noise": 0.25,
        "seed": 3,
        "min_leaf": 20,
        "forest_leaf": 20,
        "trees": 5,
    }
    return studies["paths"].Job(
        **(given | {"fits": (("cart-spo", 1), ("greedy-spo", None), ("dp", 1))} | changes)
    )


def test_the_two_roads_come_out_as_published(studies):
    table, _ = studies["roads"].study()
    table = table.set_index(["method", "depth"])
    assert table.loc[("SPO tree", "1"), ["root", "switch"]].to_list() == pytest.approx(
        [0.2848, 0.2848], abs=5e-5
    )
    assert table.loc["SPO tree"].test.max() < 1e-6
    assert table.loc[("CART", "1"), "root"] == pytest.approx(0.6236, abs=5e-5)
    assert np.isnan(table.loc[("CART", "1"), "switch"])
    losses = 100 * table.loc["CART"].test
    assert losses.to_list() == pytest.approx([9.02, 1.84, 0.486, 0.124, 0.033], rel=0.005)


def test_validation_rows_come_first_and_test_rows_last(studies):
    """The row of a tree is what the protocol says, done by hand."""
    row = studies["paths"].work(job(studies))[1]
    made = mt.decisions.shortest_path_data(1100, degree=10, noise=0.25, seed=3)
    by_hand = mt.SPOTree(decisions=made.decisions, max_depth=None, min_samples_leaf=20)
    by_hand.fit(made.X[20:100], made.C[20:100], X_val=made.X[:20], y_val=made.C[:20])
    assert (row["method"], row["depth"], row["leaves"]) == (
        "SPO tree",
        "none",
        by_hand.tree_.n_leaves,
    )
    assert row["test"] == pytest.approx(-by_hand.score(made.X[100:], made.C[100:]), rel=1e-12)


def test_a_forest_draws_the_number_of_features_that_validation_prefers(studies):
    rows = studies["paths"].work(job(studies, fits=(("forests", None),)))
    assert [row["method"] for row in rows] == ["CART forest", "scikit-learn forest", "SPO forest"]
    made = mt.decisions.shortest_path_data(1100, degree=10, noise=0.25, seed=3)
    regret = {}
    for m in (2, 3, 4, 5):
        forest = mt.SPOForest(
            n_estimators=5,
            decisions=made.decisions,
            max_features=m,
            min_samples_leaf=20,
            random_state=3,
        ).fit(made.X[20:100], made.C[20:100])
        regret[m] = (
            -forest.score(made.X[:20], made.C[:20]),
            -m,
            -forest.score(made.X[100:], made.C[100:]),
        )
    best = min(regret.values())
    assert (rows[2]["features"], rows[2]["test"]) == (-best[1], pytest.approx(best[2], rel=1e-12))


def test_improvements_are_ratios_of_means_per_setting(studies):
    losses = {("a", 0): (1, 4), ("a", 1): (2, 2), ("b", 0): (3, 3), ("b", 1): (1, 5)}
    rows = [
        {"where": s, "seed": k, "depth": "1", "method": m, "test": v}
        for (s, k), pair in losses.items()
        for m, v in zip(("new", "old"), pair, strict=True)
    ]
    found = studies["shared"].improvements(pd.DataFrame(rows), {"new": "old"}, ["where"]).iloc[0]
    assert found.improvement == pytest.approx(100 * ((1 - 3 / 6) + (1 - 4 / 8)) / 2)
    assert found.sd == pytest.approx(100 * np.std([0.75 / 2, 0.8 / 2], ddof=1))
    assert found.se == pytest.approx(found.sd / 2**0.5)
    assert found.better == 50
    gains = (
        studies["shared"]
        .improvements(pd.DataFrame(rows), {"old": "new"}, ["where"], more_is_better=True)
        .iloc[0]
    )
    assert gains.improvement == pytest.approx(100 * (6 / 3 - 1 + 8 / 4 - 1) / 2)


def test_a_study_goes_on_where_it_stopped(studies, tmp_path):
    store = studies["shared"].Growing(tmp_path / "t.csv", studies["paths"].KEY)
    store.add(studies["paths"].work(job(studies, fits=(("cart-spo", 1),))))
    again = studies["shared"].Growing(tmp_path / "t.csv", studies["paths"].KEY)
    assert again.known() == {("100", "3.0", "1.0", "10.0", "0.25", "3", "20", "CART", "1")}
    args = studies["paths"].arguments(
        [
            "--rows",
            "100",
            "--degrees",
            "10",
            "--noises",
            "0.25",
            "--depths",
            "1,2",
            "--repeats",
            "4",
        ]
    )
    left = {j.seed: j.fits for j in studies["paths"].jobs(args, again.known())}
    assert left[0] == (
        ("cart-spo", 1),
        ("cart-spo", 2),
        ("greedy-spo", 1),
        ("greedy-spo", 2),
        ("greedy-spo:plateaus=squared-error", 1),
        ("greedy-spo:plateaus=squared-error", 2),
        ("dp", 1),
        ("dp", 2),
    )
    assert left[3] == left[0][1:]


def test_news_splits_groups_in_halves_and_quarters_and_counts_clicks_by_visits(studies):
    news = studies["news"]
    data = mt.decisions.news_data(200, seed=1)
    train, held, test = news.parts(data, 1)
    assert [len(p.X) for p in (train, held, test)] == [100, 50, 50]
    assert (
        np.sort(np.concatenate([p.weights for p in (train, held, test)])).tolist()
        == np.sort(data.weights).tolist()
    )
    rows = news.work(news.Job("synthetic", 200, 1, 11, data, (1,), 10_000))
    S = mt.decisions.news_decisions(11)
    tree = mt.SPOTree(decisions=S, max_depth=1, min_weight_leaf=10_000, n_bins=20).fit(
        train.X, train.C, train.weights, X_val=held.X, y_val=held.C, sample_weight_val=held.weights
    )
    clicks = -(test.weights[:, None] * test.C * tree.decide(test.X)).sum() / test.weights.sum()
    assert rows[1]["clicks"] == pytest.approx(clicks, rel=1e-12)
    assert all(row["clicks"] < row["best"] for row in rows)
    assert {"same depth", "SPO depth 2", "paper"} <= set(
        news.summary(pd.DataFrame(rows + news_of_depth_2(rows))).columns
    )


def news_of_depth_2(rows):
    """The summary needs a depth of 2."""
    return [row | {"depth": "2"} for row in rows]


def test_news_reads_a_log(studies, tmp_path):
    lines = []
    rng = np.random.default_rng(0)
    for t in range(600):
        reader, article = rng.integers(4), rng.integers(6)
        features = "|".join(f"10{k} 2:0.{k} 3:0.{9 - k} 1:1.00" for k in range(6)).replace(
            "|", " |"
        )
        lines.append(
            f"{t} 10{article} {int(rng.random() < 0.3)} |user 2:0.{reader} 3:0.{5 - reader} 1:1.00 |{features}"
        )
    (tmp_path / "log.txt").write_text("\n".join(lines) + "\n")
    args = studies["news"].arguments(
        [
            "--log",
            str(tmp_path / "log.txt"),
            "--sets",
            "1",
            "--depths",
            "2",
            "--least",
            "50",
            "--groups",
            "10",
        ]
    )
    (only,) = studies["news"].jobs(args)
    assert (only.source, only.groups, only.constraints) == ("log", 4, 10)
    assert len(studies["news"].work(only)) == 2
