"""The page of one model holds its rows, its certificate and other splits, and runs nothing else."""

import json

import numpy as np
import pytest
from page_cases import EVIL, Elements, block
from tree_cases import tree, with_model
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError
from milp_trees.exports.pages.certificate import Checks, certificate


@pytest.fixture(scope="module")
def result():
    data = mt.load("planted:rows=80,tests=6,depth=2,noise=0.1")
    return mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)))


@pytest.fixture(scope="module")
def page(result):
    return result.export("html")


def test_nodes_hold_their_rows_and_the_result_can_be_verified(result, page):
    data = json.loads(block(page, "data"))
    nodes, routes = data["nodes"], result.tree.routes(result.problem.dataset)
    leaves = [node for node in nodes if "label" in node]
    assert [node["rows"] for node in leaves] == [
        int((routes.leaf == k).sum()) for k in range(routes.n_leaves)
    ]
    assert nodes[0]["rows"] == data["total"] == 80
    for node in nodes:
        if "no" in node:
            below = [nodes[node["no"]], nodes[node["yes"]]]
            assert node["counts"] == [sum(n) for n in zip(*(b["counts"] for b in below))]
    wrong = sum(sum(n["counts"]) - n["counts"][n["label"]] for n in leaves)
    assert wrong == result.value.number
    assert mt.verify(data["result"], result.problem.dataset).verdict.value == "derived"


def test_other_splits_are_those_of_the_root_and_say_how_far_they_are_complete(result, page):
    root = json.loads(block(page, "data"))["alternatives"]["0"]
    own = [way for way in root["splits"] if way["current"]]
    assert len(own) == 1
    assert own[0]["worse"] == 0
    assert own[0]["value"] == result.value.number
    data = result.problem.dataset

    def leaf(rows):
        return int(rows.sum() - np.bincount(data.y[rows], minlength=1).max()) if rows.any() else 0

    def stump(rows):
        return min(leaf(rows), *(leaf(rows & x) + leaf(rows & ~x) for x in data.X.T == 1))

    assert len(root["splits"]) == data.X.shape[1] + 1 - sum(w["equal"] for w in root["splits"])
    for way in root["splits"]:
        if way["tests"]:
            x = data.X[:, [t.name for t in data.features].index(way["tests"][0])] == 1
            assert way["value"] == stump(x) + stump(~x)
        else:
            assert way["value"] == leaf(np.ones(len(data.y), dtype=bool))


def test_the_certificate_of_an_optimum_holds_its_bound(result):
    row = result.to_json()
    facts = dict(certificate(row, Checks())[1])
    assert facts["bound"].startswith(
        f"{result.value.number:g}, claimed by {row['proved_by']}, gap 0"
    )


def test_only_own_scripts_may_run_and_nothing_is_loaded(page):
    elements = Elements(page)
    policy = next(a["content"] for _, a in elements.found if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.count("sha256-") == 2
    tags = {tag for tag, _ in elements.found}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "form", "video", "audio"}
    for _, attributes in elements.found:
        assert not {"src", "srcset", "action"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in page[page.index("<style>") : page.index("</style>")]
    assert len(page) < 300_000


def test_names_labels_and_titles_are_only_text(result):
    page = with_model(result, tree(3, [EVIL, "b"])).export("html", title=EVIL)
    elements = Elements(page)
    assert elements.found.count(("script", {})) == 1
    assert ("img", {"src": "x", "onerror": "window.ran=2"}) not in elements.found
    assert json.loads(block(page, "data"))["labels"][0] == EVIL


def test_a_stored_result_gives_a_page_with_rows_or_says_why_there_are_none(tmp_path, result):
    file, page = tmp_path / "result.json", tmp_path / "page.html"
    stored = result.to_json()
    for rows in (True, False):
        if not rows:
            stored["problem"]["data"]["path"] = str(tmp_path / "gone.csv")
        file.write_text(json.dumps(stored))
        ran = CliRunner().invoke(app, ["export", str(file), "--to", "html", "-o", str(page)])
        assert ran.exit_code == 0, ran.output
        data = json.loads(block(page.read_text(), "data"))
        assert ("rows" in data["nodes"][0]) is rows
        assert ("Rows are not counted" in ran.output) is not rows
    ran = CliRunner().invoke(app, ["export", str(file), "--to", "c:function=decide"])
    assert "int decide(const decide_row *row)" in ran.output
    ran = CliRunner().invoke(app, ["export", str(file), "--json"])
    assert {"c", "sql", "html"} <= {one["name"] for one in json.loads(ran.output)}
    ran = CliRunner().invoke(app, ["export", str(file), "--to", "onnx"])
    assert ran.exit_code == 1
    assert "-o model.onnx" in ran.output


def test_other_splits_are_refused_with_the_reason(result):
    def why(problem):
        return json.loads(block(mt.solve(problem).export("html"), "data"))["why_none"]

    data = result.problem.dataset
    few = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2, max_leaf_nodes=3))
    assert "number of leaves" in why(few)
    assert "f1" in why(mt.Problem(data, mt.registry.task("f1")(), mt.Trees(max_depth=1)))
    with pytest.raises(DataError, match="seconds must be"):
        result.save_html("x.html", seconds=-1.0)
    with pytest.raises(DataError, match="shows a whole result"):
        result.tree.export("html")


def test_leaves_that_predict_numbers_show_mean_deviation_and_rows():
    data = mt.Dataset([[0], [0], [1], [1]], [mt.BinaryFeature("a")], y=[1.0, 2.0, 7.5, 8.0])
    result = mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=1)))
    page = result.export("html")
    held = json.loads(block(page, "data"))
    assert held["labels"] == ["1.500 ± 0.500", "7.750 ± 0.250"]
    assert len(set(held["colours"])) == 2
    leaves = [node for node in held["nodes"] if "label" in node]
    assert [(node["label"], node["rows"]) for node in leaves] == [(0, 2), (1, 2)]
    assert "squared-error, whose leaves predict numbers" in held["why_none"]
    assert held["result"]["predictor"] == result.to_json()["predictor"]
