"""Tables and figures of a study for papers."""

import csv
import io
import json
import re

import pytest
from row_tests import each_row
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.common.errors import DataError
from milp_trees.common.registering.labels import declared
from milp_trees.studies.columns import COLUMNS
from milp_trees.studies.figures.measures import FIGURES
from milp_trees.studies.paper.style import no_commands, page_style
from milp_trees.studies.paper.tables import latex_text, markdown_text


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two data sets × ten lines × two seeds."""
    path = tmp_path_factory.mktemp("papers") / "study.db"
    problems = [
        mt.Problem(
            mt.load(f"planted:rows=30,tests=4,depth=1,noise=0.1,seed={s}"),
            mt.Accuracy(),
            mt.Trees(1),
        )
        for s in (1, 2)
    ]
    speed_ups = [
        k for k, on in declared(mt.registry.classes("methods")["dp"]).items() if on is True
    ]
    names = ["dp", "cart", "enumerate", *(f"dp:{name}=off" for name in speed_ups[:7])]
    mt.compare(problems, names, seeds=[0, 1], reference=None, store=path).store.close()
    return path


@pytest.fixture(scope="module")
def study(store):
    return mt.Study.open(store)


def run(*arguments):
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    return done.exit_code, done.stdout, done.stderr


def test_csv_of_rows_has_every_column(store, study):
    code, out, _ = run("table", store, "--style", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == len(study)
    assert {row["objective"] for row in rows} == {str(v) for v in study.frame()["objective"]}


def test_aggregates_name_their_time_out_mode_and_shift(store):
    for style in ("latex", "markdown", "csv"):
        given = ("--by", "variant", "--style", style, "--timeouts", "par10", "--shift", "10")
        code, out, _ = run("table", store, *given)
        assert code == 0
        assert "par10" in out
        assert "10 s" in out or ",par10,10.0" in out


def test_json_holds_the_cells_unrounded(store):
    _, out, _ = run("table", store, "--by", "variant", "--measure", "solved,gap", "--json")
    rows = json.loads(out)
    assert rows[0]["variant"] == "dp"
    assert (rows[0]["solved"], rows[0]["gap"]) == (4, 0.0)


def test_latex_has_one_cell_per_column(store):
    _, out, _ = run("table", store, "--by", "variant,depth", "--style", "latex")
    body = out[out.index(r"\midrule") : out.index(r"\bottomrule")]
    kinds = re.search(r"\\begin{tabular}{(\w+)}", out)[1]
    for line in body.splitlines()[1:]:
        assert len(re.split(r"(?<!\\)&", line)) == len(kinds)
    assert out.count("% ") >= len(kinds)  # each column is described


@each_row(
    ("text", "latex", "markdown"),
    [
        ("a_b & 5%", r"a\_b \& 5\%", r"a\_b &amp; 5%"),
        (r"\input{x}", r"\textbackslash{}input\{x\}", r"\\input{x}"),
        ("a|b\n<i>", r"a\textbar{}b \textless{}i\textgreater{}", r"a\|b &lt;i&gt;"),
        ("x\x1b[0m^2", r"x {[}0m\textasciicircum{}2", r"x \[0m^2"),
        ('[2] * "a"', "{[}2] {*} ''a''", r'\[2\] \* "a"'),
    ],
)
def test_texts_are_no_commands(text, latex, markdown):
    assert latex_text(text) == latex
    assert markdown_text(text) == markdown


def test_chosen_columns_and_files(store, tmp_path):
    out = tmp_path / "t.md"
    assert run("table", store, "--columns", "variant,*_seconds,seed", "--out", out)[0] == 0
    head = out.read_text().splitlines()[0]
    assert head.startswith(
        "| variant | build seconds | hand over seconds | solve seconds | cpu seconds | seed"
    )


@each_row(
    ("given", "said"),
    [
        (("--style", "word"), "latex, csv, markdown"),
        (("--by", "nothing"), "no column 'nothing'"),
        (("--by", "variant", "--measure", "speed"), "no measure 'speed'"),
        (("--columns", "nothing"), "no column 'nothing'"),
        (("--columns", "seed", "--by", "seed"), "give one of them"),
        (("--measure", "sgm"), "--by"),
        (("--by", "seed", "--timeouts", "x"), "limit, par10, intersection"),
    ],
)
def test_what_is_wrong_is_one_sentence(store, given, said):
    code, out, err = run("table", store, *given)
    assert (code, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_table_does_not_replace_a_study(store):
    before = store.read_bytes()
    code, _, err = run("table", store, "--out", store)
    assert code == 1
    assert "would be replaced" in err
    assert store.read_bytes() == before


@each_row("kind", ["overview", *FIGURES])
def test_every_figure_is_drawn_and_names_its_mode(study, kind):
    import matplotlib.pyplot as plt

    figure = study.plot(kind=kind, timeouts="par10" if kind != "overview" else "limit")
    figure.canvas.draw()
    titles = [ax.get_title() for ax in figure.axes]
    assert "time-outs: " in titles[-1]
    plt.close(figure)


def test_a_profile_names_eight_lines_and_greys_the_others(study):
    """The eight best of ten have no colour with the same dashes twice; the legend counts the rest."""
    import matplotlib.pyplot as plt

    figure = study.plot(kind="profile")
    drawn = figure.axes[0].get_lines()
    assert len(drawn) == 10
    named = {(line.get_color(), str(line._dash_pattern)) for line in drawn[:8]}
    assert len(named) == 8
    assert {line.get_color() for line in drawn[8:]} == {"0.75"}
    words = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert words[8:] == ["2 others"]
    plt.close(figure)


def test_one_problem_is_no_profile():
    """Bars of seconds take its place; a table says above it what is the same in all rows."""
    import matplotlib.pyplot as plt

    problem = mt.Problem(mt.load("planted:rows=30,tests=4"), mt.Accuracy(), mt.Trees(max_depth=2))
    one = mt.compare(problem, methods=["dp", "cart"])
    figure = one.plot(kind="profile")
    assert "no profile" in figure.axes[0].get_title()
    assert sorted(t.get_text() for t in figure.axes[0].get_yticklabels()) == ["cart", "dp"]
    assert len(figure.axes[0].patches) == 2
    plt.close(figure)
    assert "depth 2, task accuracy, seed 0</caption>" in one._repr_html_()
    assert "<th>depth</th>" not in one._repr_html_()


def test_tables_of_a_study_show_what_differs(study):
    for name in ("data", "seed"):
        assert f"<th>{name}</th>" in study._repr_html_()


def test_a_pdf_embeds_its_fonts_as_truetype(store, tmp_path):
    out = tmp_path / "profile.pdf"
    given = ("--font", "DejaVu Serif", "--width", "8.4", "--font-size", "7")
    assert run("plot", store, "--out", out, *given)[0] == 0
    content = out.read_bytes()
    assert b"/FontFile2" in content
    assert b"/Type3" not in content
    assert re.search(rb"/BaseFont /([A-Z]{6}\+)?DejaVuSerif", content)


@pytest.mark.parametrize("kind", ["profile", "integrals"])
def test_names_in_figures_are_no_commands_of_latex(kind, study, monkeypatch):
    """As labels of lines, and as names at the ticks; the numbers at the ticks are matplotlib's."""
    from matplotlib import pyplot as plt
    from matplotlib.text import Text

    odd = mt.Study()
    names = {row["method"]: f"{row['method']}_$5% & #{{~^" for row in study.rows}
    odd.rows = [{**row, "method": names[row["method"]]} for row in study.rows]
    figure = odd.plot(kind=kind)
    no_commands(figure)
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(Text)]
    plt.close(figure)
    shown = [text for text in texts if "5" in text and "textasciicircum" in text]
    assert len(set(shown)) >= 2
    for text in shown:
        assert re.search(r"(?<!\\)[_$%&#]|[~^]", text) is None, text


def test_fonts_and_files_that_cannot_be_are_refused(store, tmp_path, monkeypatch):
    for given, message in (
        (("--out", tmp_path / "x.doc"), ".pdf"),
        (("--out", tmp_path / "x.pgf"), "--latex"),
        (("--out", tmp_path / "x.png", "--latex"), ".pgf"),
        (("--out", tmp_path / "x.pdf", "--font", "No Such"), "There is no font"),
        (("--out", tmp_path / "x.pdf", "--kind", "pie"), "overview, profile"),
        (("--out", tmp_path / "x.pdf", "--kind", "ratios", "--base", "pie"), "no line 'pie'"),
    ):
        code, _, err = run("plot", store, *given)
        assert code == 1
        assert message in err
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError, match="LaTeX is not installed"), page_style(latex=True):
        pass


def test_tables_are_in_the_order_of_the_plan(study):
    """Runs of several workers end in any order."""
    from milp_trees.studies.paper.tables import aggregate_table, row_table

    mixed = mt.Study()
    count = len(study.rows)
    mixed.rows = [
        {**row, "run": {"number": count - k}} for k, row in enumerate(study.rows, start=1)
    ]
    assert row_table(mixed, ["number"]).frame["number"].tolist() == list(range(count))
    found = aggregate_table(mixed, ["variant"], ["runs"], "limit", 1.0).frame["variant"]
    assert found.tolist() == list(dict.fromkeys(study.frame()["variant"][::-1]))
