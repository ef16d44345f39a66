"""Generators of data for decisions, and the reader of a click log."""

import gzip

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.decisions.generate import CROSSING


def test_shortest_path_costs_are_the_published_formula():
    data = mt.decisions.shortest_path_data(50, degree=2, noise=0.0, seed=3)
    assert data.X.shape == (50, 5)
    assert data.C.shape == (50, 24) == (50, data.decisions.dimension)
    assert set(np.unique(data.B)) == {0, 1}
    assert 0 <= data.X.min() <= data.X.max() < 1
    i, j = 7, 11
    assert data.C[i, j] == pytest.approx(((data.B[j] @ data.X[i]) / 5**0.5 + 3) ** 2 + 1)


def test_constants_and_normal_features_of_the_shortest_paths_can_be_chosen():
    data = mt.decisions.shortest_path_data(
        400, features=3, degree=1, grid=(2, 3), inner=1, outer=0, uniform=False, seed=1
    )
    assert data.C.shape == (400, 7)
    np.testing.assert_allclose(data.C, data.X @ data.B.T / 3**0.5 + 1)
    assert abs(data.X.mean()) < 0.1 < data.X.std()
    assert data.X.min() < 0


def test_noise_multiplies_within_its_bounds():
    quiet, noisy = (
        mt.decisions.shortest_path_data(300, degree=2, noise=e, seed=2) for e in (0.0, 0.25)
    )
    np.testing.assert_array_equal(quiet.X, noisy.X)
    factor = noisy.C / quiet.C
    assert 0.75 <= factor.min() < 0.76
    assert 1.24 < factor.max() <= 1.25


def test_test_rows_share_the_matrix_of_the_training_rows():
    train = mt.decisions.shortest_path_data(10, degree=1, seed=1)
    test = mt.decisions.shortest_path_data(20, degree=1, seed=2, B=train.B)
    np.testing.assert_array_equal(test.B, train.B)
    np.testing.assert_allclose(test.C, test.X @ train.B.T / 5**0.5 + 4)
    assert not np.isin(test.X, train.X).any()


def test_shortest_path_data_out_of_range_are_refused():
    for wrong, message in [
        ({"n": 0}, "n >= 1"),
        ({"n": 5, "noise": 2}, "noise"),
        ({"n": 5, "B": np.ones((3, 5))}, "shape"),
        ({"n": 500, "degree": 0.5, "inner": 0, "uniform": False}, "no numbers"),
        ({"n": 5, "grid": (1, 1)}, "no edges"),
    ]:
        with pytest.raises(mt.DataError, match=message):
            mt.decisions.shortest_path_data(**wrong)


def test_the_better_of_two_roads_changes_at_the_crossing():
    data = mt.decisions.two_roads(10_000)
    x = data.X[:, 0]
    np.testing.assert_array_equal(data.C.argmin(axis=1), np.where(x < CROSSING, 1, 0))
    assert pytest.approx(0.28458, abs=5e-6) == CROSSING
    np.testing.assert_array_equal(mt.decisions.two_roads(100).X, data.X[:100])
    assert [
        data.decisions.label(w) for w in data.decisions.solve(data.C[x > 0.9][:1]).decisions
    ] == ["road1"]


def test_news_are_probabilities_with_records_as_weights():
    data = mt.decisions.news_data(200, seed=4)
    assert (data.X.shape, data.C.shape, data.weights.shape) == ((200, 5), (200, 6), (200,))
    np.testing.assert_allclose(data.X.sum(axis=1), 1)
    assert -1 < data.C.min() < data.C.max() <= 0
    assert (data.weights == np.rint(data.weights)).all()
    best = data.C.argmin(axis=1)
    assert len(np.unique(best)) > 2  # readers differ in what they like
    with pytest.raises(mt.DataError, match="rate"):
        mt.decisions.news_data(10, rate=2)


def test_some_random_sets_of_news_decisions_are_empty():
    for seed in range(10, 41):
        if seed in (27, 28, 29, 32, 39):
            with pytest.raises(mt.DataError, match="empty"):
                mt.decisions.news_decisions(seed)
        else:
            assert mt.decisions.news_decisions(seed).dimension == 6


# -- click log ---------------------------------------------------------------------------------------------------------------------------------


def invented_log(visits=600, seed=0):
    """Lines in the format of the log: two tastes of readers, four articles of two kinds."""
    rng = np.random.default_rng(seed)
    pool = " ".join(
        f"|{900 + a} 2:{0.9 - 0.8 * (a // 2):.6f} 3:{0.1 + 0.8 * (a // 2):.6f} 1:1.000000"
        for a in range(4)
    )
    lines, seen = [], {}
    for t in range(visits):
        taste, article = rng.integers(0, 2), rng.integers(0, 4)
        click = int(rng.random() < (0.6 if article // 2 == taste else 0.1))
        lines.append(
            f"{1241160900 + t} {900 + article} {click} |user 2:{0.98 if taste else 0.02:.6f} 3:{0.02 if taste else 0.98:.6f} 1:1.000000 {pool}\n"
        )
        count = seen.setdefault((taste, article // 2), [0, 0])
        count[0] += 1
        count[1] += click
    return lines, seen


def test_a_click_log_becomes_groups_of_readers_and_kinds_of_articles(tmp_path):
    lines, seen = invented_log()
    (tmp_path / "day1").write_text("".join(lines[:300]))
    with gzip.open(tmp_path / "day2.gz", "wt") as file:
        file.writelines(lines[300:])
    log = mt.decisions.read_clicks([tmp_path / "day1", tmp_path / "day2.gz"])
    assert (log.n_records, len(log.readers), len(log.articles)) == (600, 2, 4)
    data = mt.decisions.news_from_clicks(log, articles=2, groups=10, smoothing=1e-12)
    assert data.X.shape == data.C.shape == (2, 2)
    assert data.weights.sum() == 600
    expected = {round(clicked / shown, 9) for shown, clicked in seen.values()}
    assert {round(-c, 9) for c in data.C.ravel().tolist()} == expected
    taste = (data.X[:, 0] > 0.5).astype(int)  # feature 2
    for row, t in zip(data.C, taste, strict=True):
        assert -row.min() == pytest.approx(seen[t, t][1] / seen[t, t][0])


def test_smoothing_draws_estimates_to_the_rate_of_the_kind(tmp_path):
    (tmp_path / "log").write_text("".join(invented_log()[0]))
    log = mt.decisions.read_clicks(tmp_path / "log")
    raw, drawn = (
        mt.decisions.news_from_clicks(log, articles=2, groups=2, smoothing=s).C for s in (1e-9, 1e9)
    )
    assert np.ptp(raw, axis=0).min() > 0.3
    assert np.ptp(drawn, axis=0).max() < 1e-6


def test_the_second_edition_of_the_log_has_bare_features(tmp_path):
    (tmp_path / "log").write_text(
        "1 id-1 0 |user 1 9 11 |id-1 |id-2\n2 id-2 1 |user 1 9 |id-1 |id-2\n\n3 id-2 0 |user 1 9 |id-1 |id-2\n"
    )
    log = mt.decisions.read_clicks(tmp_path / "log")
    assert list(log.readers) == [((9, 1.0), (11, 1.0)), ((9, 1.0),)]
    data = mt.decisions.news_from_clicks(log, articles=2, groups=5)
    assert data.X.tolist() == [[1, 0], [1, 1]] or data.X.tolist() == [[1, 1], [1, 0]]
    assert sorted(data.weights) == [1, 2]
    with pytest.raises(mt.DataError, match="articles=2"):
        mt.decisions.news_from_clicks(log, articles=1)
    with pytest.raises(mt.DataError, match="fewer"):
        mt.decisions.news_from_clicks(log, articles=3)


@pytest.mark.parametrize(
    "line", ["garbage", "1 2 3 |user 1:1", "1 a 0 |nobody 1:1", "1 a 0 |user x:1", "1 a 0"]
)
def test_lines_that_are_no_visits_are_named(tmp_path, line):
    (tmp_path / "log").write_text(f"1 id-1 0 |user 1 9 |id-1\n{line}\n")
    with pytest.raises(mt.DataError, match="Line 2 of"):
        mt.decisions.read_clicks(tmp_path / "log")
    assert mt.decisions.read_clicks(tmp_path / "log", limit=1).n_records == 1


def test_an_empty_or_missing_log_is_refused(tmp_path):
    (tmp_path / "log").write_text("\n")
    with pytest.raises(mt.DataError, match="no visits"):
        mt.decisions.read_clicks(tmp_path / "log")
    with pytest.raises(mt.DataError, match="no file"):
        mt.decisions.read_clicks(tmp_path / "missing")
