"""The page of one model in a real browser: rows go where Python sends them."""

import csv
import io

import pytest
import tree_cases as cases
from page_cases import EVIL

import milp_trees as mt

pytestmark = pytest.mark.usefixtures("nothing_wrong")
LABELS = [EVIL, "no", *(f"class {k} with a long name that goes on and on" for k in range(18))]


@pytest.fixture(scope="module")
def result():
    data = mt.load("planted:rows=80,tests=6,depth=2,noise=0.1")
    return mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=2)))


@pytest.fixture(scope="module")
def models():
    return {"tree": cases.tree(7, LABELS), "list": cases.rules(LABELS[:3])}


@pytest.fixture(scope="module")
def pages(result, models, opened, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    files = {"own": result.save_html(folder / "own.html")}
    for name, model in models.items():
        files[name] = cases.with_model(result, model).save_html(folder / f"{name}.html")
    return {name: opened(file) for name, file in files.items()}


@pytest.mark.parametrize("name", ["tree", "list"])
def test_rows_go_where_python_sends_them(pages, models, name):
    frame = cases.rows(400)
    walked = pages[name].evaluate(
        "rows => rows.map(row => T.state.data.labels[T.walk(new Map(Object.entries(row))).label])",
        cases.texts(frame),
    )
    assert walked == models[name].predict(frame).tolist()


def test_a_pasted_line_is_read_and_its_path_is_shown(pages, models):
    page, frame = pages["tree"], cases.rows(12, seed=3)
    names = page.evaluate("T.state.data.columns.map(c => c.name)")
    for k, row in enumerate(cases.texts(frame)):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=",;\t"[k % 3])
        writer.writerows([names] * (k % 2) + [[row[name] for name in names]])
        page.locator("#line").fill(out.getvalue())
        page.locator("#paste").click()
        label = models["tree"].predict(frame.iloc[[k]])[0]
        assert page.locator("#way .label").inner_text().split() == label.split()
        assert page.locator("#way li").count() == 7
        assert page.locator("g.on-path").count() == 8
        assert page.locator("g.leaf.on-path.selected").count() == 1
    page.locator("#line").fill("1,2")
    page.locator("#paste").click()
    assert "does not have 4 cells" in page.locator("#way").inner_text()


def test_a_value_that_is_needed_and_no_number_is_refused_in_words(pages):
    page = pages["tree"]
    page.evaluate("document.querySelectorAll('.field input').forEach(i => { i.value = ''; })")
    page.locator(".field input").first.fill("many")
    page.locator("#go").click()
    assert "No prediction" in page.locator("#way").inner_text()
    assert page.locator(".on-path").count() == 0


def test_a_large_tree_is_folded_unfolds_and_is_walked_by_keys(pages):
    page = pages["tree"]
    page.get_by_role("button", name="Fold", exact=True).click()
    assert page.locator("g[data-node]").count() == 3
    page.locator('[data-node="0"]').focus()
    page.evaluate("T.draw.select(0)")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator("g[data-node]").count() == 5
    page.keyboard.press("ArrowRight")
    assert page.evaluate("T.state.selected") == 2
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.dataset.node") == "0"
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator("g[data-node]").count() == 255


def test_a_node_shows_rows_and_other_splits_and_colours_change(pages, result):
    page = pages["own"]
    assert page.locator("#node .counts tbody tr").count() == 2
    assert page.locator("#node .others .current").count() == 1
    value = page.locator("#node .others .current td").first.inner_text()
    assert value == f"{result.value.number:g}"
    page.locator("g.leaf").first.click()
    assert page.locator("#node-title").inner_text().startswith("Leaf: ")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.evaluate("dispatchEvent(new Event('beforeprint'))")  # on paper the whole drawing is shown
    assert page.locator("svg > g").get_attribute("transform") is None
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("svg > g").get_attribute("transform")
    with page.expect_download() as caught:
        page.locator("#save").click()
    assert '"schema"' in caught.value.path().read_text("utf-8")


def test_a_rule_list_is_a_list_and_shows_which_rules_were_asked(pages, models):
    page, frame = pages["list"], cases.rows(30, seed=4)
    leaf = models["list"].routes(_tested(models["list"], frame)).leaf
    k = int(leaf.argmax())
    row = cases.texts(frame)[k]
    page.evaluate(
        "row => T.draw.path((({ steps, end }) => [...steps.map(s => s.at), end])(T.walk(new Map(Object.entries(row)))))",
        row,
    )
    assert page.locator("tr.rule").count() == 10
    assert page.evaluate("T.state.selected") == leaf[k]
    assert page.locator("tr.on-path").count() == leaf[k] + 1


def _tested(model, frame):
    from milp_trees.models.array_rows import RawRows

    return RawRows(model.features, frame)
