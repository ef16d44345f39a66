"""Which problem a stored result is about: another one is stated, and can be pinned."""

import copy
import json

import pytest
from verdicts_cases import run

import milp_trees as mt


def remade(people, **load):
    """The same claim on other tests, with every hash renewed: its tree and bound are those of the
    other problem.
    """
    data = mt.load(people["problem"]["data"]["path"], **load)
    return json.loads(
        json.dumps(
            mt.solve(
                mt.Problem(data, mt.Accuracy(leaf_penalty="1/50"), mt.Trees(1)), start=None
            ).to_json()
        )
    )


def test_features_that_were_cut_are_refused_or_stated(people):
    cut = remade(people, binarizer="quantiles:4", features=["a", "c"])
    assert "2 of 3 columns" in mt.verify(cut).problem.lines()[1]
    for hide in (
        lambda d: d["columns"].pop("features"),
        lambda d: d.update(features=["a", "b", "c"]),
    ):
        data = copy.deepcopy(cut)
        hide(data["problem"]["data"])
        with pytest.raises(
            mt.errors.VerificationError, match=r"features|arrays|data are not|tests are not"
        ):
            mt.verify(data)


def test_thresholds_and_the_note_on_them_are_found_again(people):
    assert mt.verify(people).problem.data["thresholds"] == "quantiles:4, found again on these rows"
    silent = copy.deepcopy(people)
    del silent["problem"]["data"]["threshold_note"]
    silent["problem"]["data"]["binarizer"]["threshold_note"] = ""
    with pytest.raises(mt.errors.VerificationError, match="states the note ''"):
        mt.verify(silent)
    fewer = mt.Binarizer.from_json(
        {**people["problem"]["data"]["binarizer"], "columns": {"a": [7.0], "b": [], "c": [3.0]}}
    )
    hidden = remade(people, binarizer=fewer)
    message = mt.verify(hidden)
    assert (
        "given (quantiles), not found again; fewer than all midpoints"
        in message.problem.data["thresholds"]
    )
    assert "problem.data.binarizer" in message.not_verified
    hidden["problem"]["data"]["binarizer"]["given"] = False
    with pytest.raises(
        mt.errors.VerificationError, match="not those that the binarizer 'quantiles' finds"
    ):
        mt.verify(hidden)


def test_another_problem_is_stated_and_can_be_pinned(people, tmp_path):
    file = tmp_path / "r.json"
    file.write_text(json.dumps(people))
    right = {
        "space.max_depth": "1",
        "penalties.leaf_penalty": "0.02",
        "penalties.split_penalty": "0",
        "task.name": "accuracy",
        "data.features": "a,b,c",
    }
    right |= {
        "data.sha256": people["problem"]["data"]["sha256"],
        "fingerprint": mt.verify(people).problem.fingerprint,
        "constraints": "",
    }
    assert (
        run(
            "verify", file, *(f"--expect={k}={v}" for k, v in right.items() if k != "constraints")
        ).exit_code
        == 0
    )
    for place, value in right.items():
        found = run("verify", file, "--expect", f"{place}={value}1")
        assert found.exit_code == 4, place
        assert f"its {place} is" in found.stderr
    assert "states no 'space.depth'" in run("verify", file, "--expect", "space.depth=1").stderr
    free = json.loads(
        json.dumps(
            mt.solve(
                mt.Problem(
                    mt.load(people["problem"]["data"]["path"], binarizer="quantiles:4"),
                    mt.Accuracy(),
                    mt.Trees(1),
                )
            ).to_json()
        )
    )
    assert any(
        line.startswith("penalties") and line.endswith("none")
        for line in mt.verify(free).problem.lines()
    )
    assert mt.verify(free).problem.fingerprint != right["fingerprint"]
    file.write_text(json.dumps(free))
    for none in ("none", ""):
        assert (
            run(
                "verify", file, f"--expect=penalties={none}", f"--expect=constraints={none}"
            ).exit_code
            == 0
        )
    assert (
        "its constraints is 'none'; expected is 'capacity'"
        in run("verify", file, "--expect=constraints=capacity").stderr
    )
    twice = run("verify", file, "--expect=space.max_depth=1", "--expect=space.max_depth=2")
    assert (twice.exit_code, "twice, as '1' and '2'" in twice.stderr) == (1, True)


def test_predict_says_of_a_newer_layout_that_it_is_newer(tmp_path):
    """Which may lack a field that this version needs."""
    (tmp_path / "r.json").write_text('[{"schema": 99}]')
    assert (
        "has layout 99, which a newer version of milp-trees wrote"
        in run("predict", tmp_path / "r.json", "new.csv").stderr
    )


def test_a_score_that_does_not_exist_is_refused(people):
    for name in ("test_auc", "accuracy", "test"):
        with pytest.raises(mt.errors.VerificationError, match="score"):
            mt.verify({**people, "scores": {name: 0.99}})
