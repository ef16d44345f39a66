"""Ten things that a data scientist does, as the site says."""

PAGE = "docs/start/data_science.md"


def test_fit_a_tree_that_is_proven_optimal(done):
    model = done(1).names["model"]
    assert model.status_ == "optimal"
    assert model.bound_ == model.result_.value.number
    assert model.score(*_people()) == 1 - model.bound_ / 1000


def _people():
    import milp_trees as mt

    table = mt.example("people")
    return table.drop(columns="income"), table["income"]


def test_do_it_without_python(done):
    lines = done(2).printed.splitlines()
    rows = [line.split(",") for line in lines[-20:]]
    assert [row for row, _ in rows] == [str(k) for k in range(20)]
    assert {label for _, label in rows} == {"low", "high"}


def test_choose_the_size_by_cross_validation(done):
    found = done(3)
    assert 0.5 < found.names["model"].best_score_ <= 1
    assert str(found.names["model"].best_score_)[:6] in found.printed


def test_use_it_like_any_estimator_of_scikit_learn(done):
    search = done(4).names["search"]
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.7


def test_show_the_tree(done, tmp_path):
    found = done(5)
    assert "yes" in found.printed
    assert (tmp_path / "heart.svg").read_text().startswith("<svg")


def test_hand_the_tree_to_other_programs(done):
    found = done(6)
    model, X = found.names["model"], found.names["X"]
    assert "|---" in found.printed
    assert "SELECT" in found.printed
    assert (model.to_sklearn().predict(X.to_numpy()) == model.predict(X)).all()


def test_let_one_error_cost_more_than_another(done):
    import milp_trees as mt

    found = done(7).names
    plain = mt.OptimalTreeClassifier(max_depth=2).fit(found["X"], found["y"])
    missed = ((plain.predict(found["X"]) == "no") & (found["y"] == "yes")).sum()
    assert found["missed"] < missed


def test_keep_the_rates_of_groups_close(done):
    found = done(8).names
    message, sex = found["said"] == "yes", found["sex"]
    assert abs(message[sex == "f"].mean() - message[sex == "m"].mean()) <= 0.02 + 1e-9


def test_prefer_rules_to_a_tree(done):
    printed = done(9).printed
    assert printed.startswith("if ")
    assert "else" in printed


def test_decide_who_gets_a_treatment(done):
    printed = done(10).printed
    assert "drug" in printed
    assert "age <= " in printed
