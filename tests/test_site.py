"""The documentation site: every public name and plug-in has a page, examples run, links are checked."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def site_modules():
    """What the site is built with is importable while these tests run."""
    sys.path.insert(0, str(ROOT / "docs"))
    yield
    sys.path.remove(str(ROOT / "docs"))


def test_every_public_name_is_on_a_page_of_its_kind():
    from _site.api_pages import GROUPS, page_of
    from _site.names import public

    import milp_trees as mt

    pages = {one.path: page_of(one) for one in public()}
    assert pages["milp_trees.OptimalTreeClassifier"] == "estimators/OptimalTreeClassifier"
    assert pages["milp_trees.Accuracy"] == "tasks/accuracy"
    assert pages["milp_trees.tasks.Monotone"] == "constraints/Monotone"
    assert pages["milp_trees.RuleLists"] == "spaces/RuleLists"
    assert pages["milp_trees.solve"] == "api/problems"
    assert {f"milp_trees.{name}" for name in dir(mt) if not name.startswith("_")} - set(pages) == {
        f"milp_trees.{module}"
        for module in (
            "decisions",
            "errors",
            "lists",
            "oblique",
            "plugins",
            "pruning",
            "robust",
            "tasks",
        )
    }
    kinds = {page.partition("/")[0] for page in pages.values()}
    assert kinds == {"api", "constraints", "estimators", "spaces", "tasks"}
    assert {p.partition("/")[2] for p in pages.values() if p.startswith("api/")} == set(GROUPS)


def test_the_example_of_every_method_runs():
    """Engines, heuristics and formulations; what they print names the method."""
    from _site import examples, support

    for name, method in support.methods().items():
        program = examples.example(method)
        assert program is not None, f"docs/_site/examples.py has no problem that {name} takes"
        result = examples.ran(program)["result"]
        assert result.predictor is not None, program
        assert result.method.startswith(name), program


@pytest.mark.slow
def test_the_examples_of_solvers_and_exports_run(tmp_path, monkeypatch):
    """As they stand on the pages; what needs a package that is missing says so."""
    from _site import examples, plugin_pages

    from milp_trees.common.errors import MilpTreesError
    from milp_trees.mip.registry import registry

    monkeypatch.chdir(tmp_path)
    missing = []
    for kind, page in (("solvers", plugin_pages.solver), ("exports", plugin_pages.export)):
        for name, cls in registry.classes(kind).items():
            program = re.search(r"```python\n(.*?)```", page(name, cls), re.DOTALL)[1]
            try:
                result = examples.ran(program)["result"]
            except MilpTreesError as error:
                missing.append(str(error))
                continue
            assert result.predictor is not None, program
            assert kind == "solvers" or (tmp_path / f"model{cls.suffix}").stat().st_size > 0
    assert all("install" in why for why in missing), missing


def test_a_plug_in_gets_a_page_by_itself(monkeypatch):
    """What is said on it is what its class declares."""
    from _site import plugin_pages
    from _site.support import methods

    from milp_trees.mip.registry import registry

    cls = registry.classes("methods")["dp"]
    monkeypatch.setattr(cls, "title", "Something new")
    page = plugin_pages.method("dp", cls)
    assert page.startswith("# dp\n\nSomething new\n")
    assert "| answers | best |" in page
    assert "| `order` |" in page
    assert 'method="dp"' in page
    assert "[accuracy](../tasks/accuracy.md)" in page
    assert "auc.md" not in page
    assert set(methods()) >= {"dp", "flow-oct"}


def test_links_to_files_become_links_to_their_pages():
    from _site.links import rewritten

    pages = {"README.md": "index.md", "formulations/oct.py": "generated/formulations/oct.md"}
    text = "[a](../../README.md) [b](../../formulations/oct.py#x) [c](cli.md) [d](https://x.org/y)"
    message = rewritten(text, "docs/guide/a.md", "guide/a.md", pages)
    assert message == (
        "[a](../index.md) [b](../generated/formulations/oct.md#x) [c](cli.md) [d](https://x.org/y)"
    )
    message = rewritten(
        "[a](docs/guide/cli.md)", "CONTRIBUTING.md", "generated/project/c.md", pages
    )
    assert message == "[a](../../guide/cli.md)"


def test_the_first_page_of_a_folder_lists_the_others_in_its_order():
    from _site.links import contents

    text = "[t](tutorial.md) [o](../guide/cli.md) [d](data.md#where)"
    listed = contents(text, ["index.md", "a.md", "data.md", "tutorial.md"]).split()
    assert listed == ["```{toctree}", ":hidden:", "tutorial.md", "data.md", "a.md", "```"]
    assert contents("```{toctree}\n```", ["a.md"]) == ""


def test_every_picture_of_the_gallery_is_stored_and_described():
    """Two of the quick ones are drawn again."""
    from _site import gallery

    found = {example.name: example for example in gallery.examples()}
    assert len(found) >= 10
    for name, example in found.items():
        assert (gallery.FOLDER / f"{name}.svg").read_text("utf-8").lstrip().startswith("<"), name
        assert all((example.title, example.text, example.alt, example.code)), name
    for name in ("optimal_tree", "rule_list"):
        stored = (gallery.FOLDER / f"{name}.svg").read_text("utf-8")
        assert gallery.drawn(found[name]) == stored, "run: make gallery"


@pytest.mark.slow
def test_every_file_of_the_gallery_draws():
    """Times stand in some pictures, so they are not compared."""
    from _site import gallery

    for example in gallery.examples():
        assert "</svg>" in gallery.drawn(example), example.name


def test_formulas_become_mathml_that_means_the_same():
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    from _site.mathml import _mathml
    from docutils import nodes

    half = _mathml(nodes.math("", r"\tfrac12"), as_block=False)
    assert "<mn>1</mn><mn>2</mn></mfrac>" in re.sub(r"\s+", "", half)
    assert "…" in _mathml(nodes.math("", r"a_1,\dots,a_n"), as_block=True)


def test_wide_formulas_are_broken_where_they_may_be():
    """At columns, quads, relations, and the signs of a long sum, never within parentheses."""
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    from _site.mathml import cells, pieces

    rows = cells(r"\begin{aligned}\min\ & f(a=b),\qquad g=-1 \\ & \sum_{i=1}^n c\le 2\end{aligned}")
    assert [[pieces(cell) for cell in row] for row in rows] == [
        [[r"\min\ "], [r" f(a=b),\qquad", " g", "{}=-1 "]],
        [[], [r" \sum_{i=1}^n c", r"{}\le 2"]],
    ]
    assert pieces("+".join(["x_1"] * 20))[1:] == ["{}+x_1"] * 19
    assert pieces(r"\left(a=b\right)+c") == [r"\left(a=b\right)+c"]


def test_faults_of_a_built_site_are_found(tmp_path):
    from _site.check import external, problems

    def page(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    page("index.html", '<a href="a.html#x">a</a><a href="https://example.org/x#y">out</a>')
    page("a.html", '<p id="x"></p><a href="d/b.html">b</a><img src="p.png" alt="a tree">')
    page("d/b.html", '<a href="../c.html">c</a>')
    page("c.html", '<a href="index.html"></a>')
    assert problems(tmp_path, ["x"]) == []
    assert external(tmp_path) == {"https://example.org/x": ["index.html"]}
    page("c.html", '<a href="e.html">e</a><a href="a.html#y"></a><a href="file:///a"></a>')
    page("e.html", f'<img src="p.png" alt=""><script src="https://x.org/s.js"></script>{ROOT}')
    assert [p.split(":")[0] for p in sorted(problems(tmp_path, ["y"]))] == [
        "c.html",
        "c.html",
        "e.html is more than 3 clicks away",
        f"e.html names the folder {ROOT}",
        "e.html",
        "e.html",
        "y has no anchor",
    ]
