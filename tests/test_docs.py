"""Documents say what the code does: commands exist, links lead somewhere, examples run, the
generated page is up to date.
"""

import importlib.util
import multiprocessing
import os
import re
import shlex
import traceback
from pathlib import Path

import pytest
from row_tests import each_row

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "generated" not in p.parts),
]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page):
    """The Python blocks of a page."""
    code = page.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", code, flags=re.MULTILINE | re.DOTALL)


def click_commands():
    """The commands of `milp-trees` and the options of each; of a group those of its commands."""
    import typer.main

    from milp_trees.cli.main import app

    group = typer.main.get_command(app)
    return {
        name: {
            o
            for one in [command, *getattr(command, "commands", {}).values()]
            for p in one.params
            for o in [*p.opts, *p.secondary_opts]
        }
        for name, command in group.commands.items()
    }


@each_row("page", PAGES)
def test_links_lead_somewhere(page):
    """Every relative link names a file that exists (and a heading, where it names one)."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        path, _, heading = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name} links to {target}"
        if heading and file.suffix == ".md":
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
            headings = [
                re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles
            ]
            assert heading in headings, f"{page.name} links to {target}"


def test_the_readme_s_first_screen_has_the_two_commands():
    """One line sets up and runs the main job, one sets up and passes the tests; both begin on a
    machine with nothing but Python.
    """
    first_screen = text("README.md").splitlines()[:24]
    commands = [line for line in first_screen if line.startswith("python3 -m venv .venv && ")]
    assert len(commands) == 2
    assert commands[0].endswith(".venv/bin/milp-trees demo")
    assert ".venv/bin/python -m pytest" in commands[1]


def test_continuous_integration_runs_the_readme_s_test_command_word_for_word():
    """`.ci/run` takes the line out of the README; its pattern finds exactly that line."""
    script = text(".ci/run")
    pattern = re.search(r"grep '([^']+)' README.md", script)[1]
    found = [line for line in text("README.md").splitlines() if re.search(pattern, line)]
    assert len(found) == 1
    assert 'bash -euo pipefail -c "$command"' in script


def test_the_readme_s_ratios_are_the_measured_ones():
    """They are those of docs/benchmarks/speed.md, and of the stored runs of ConTree."""
    rows = re.findall(
        r"^\| ([\w. ]+) \| (\d.*|the same.*) \| (\d+) of .* \| (0\.\d+) \|", text("README.md"), re.M
    )
    measured = text("docs/benchmarks/speed.md")
    for peer, _, same, ratio in rows[:-1]:
        place = rf"\| {peer.split()[0]} \| \d+ \| {same} of {same} \| [\d.]+ \| {ratio} \|"
        assert re.search(place, measured), (peer, ratio)
    import pandas as pd

    runs = pd.read_csv(ROOT / "benchmarks/results/continuous.csv").query("depth == 3")
    runs = runs.pivot(index="set", columns="engine", values=["seconds", "status"])
    proved = runs[(runs["status"] == "optimal").all(axis=1)]["seconds"].astype(float)
    ratio = (proved["dp-sorted"] / proved["ConTree"]).prod() ** (1 / len(proved))
    assert (rows[-1][0], rows[-1][2], rows[-1][3]) == ("ConTree", str(len(proved)), f"{ratio:.3f}")
    assert len(rows) == 4


def test_the_readme_s_ratio_of_regression_is_the_measured_one():
    found = re.search(
        r"regression: .* depth (\d) \| \d of (\d), lower in (\d) \| (\S+) \|", text("README.md")
    )
    depth, sets, lower, ratio = found.groups()
    page = text("docs/benchmarks/regression.md")
    assert f"| {depth} | {sets} | {sets} | {sets} | {lower} | 0 | {ratio} |" in page


def commands_of(page):
    """The words of every `milp-trees …` line of a page."""
    found = re.findall(
        r"^(?:.*&& )?(?:\.venv/bin/)?milp-trees ([a-z].+)$",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    return [shlex.split(line, comments=True) for line in found]


@each_row(
    "page",
    [page for page in PAGES if commands_of(page)],
)
def test_commands_in_the_documents_exist(page):
    """Every `milp-trees …` line names a command, and options that it has."""
    commands = click_commands()
    for words in commands_of(page):
        line = " ".join(words)
        assert words[0] in commands, line
        options = {w.partition("=")[0] for w in words if w.startswith("--")}
        assert options <= commands[words[0]], line


def test_the_command_page_is_complete():
    """Every command has a place in docs/guide/cli.md, every option of a problem is listed, and the exit
    codes are those of `--help`.
    """
    from milp_trees.cli.app import EXIT_CODES
    from milp_trees.cli.options import ProblemOptions
    from milp_trees.data.reading import Reading

    page = text("docs/guide/cli.md")
    for command in click_commands():
        assert f"`{command}" in page, command
    for name in {*ProblemOptions.__dataclass_fields__, *Reading.options()} - {"data", "reading"}:
        assert f"`--{name.replace('_', '-')}`" in page, name
    for code, meaning in re.findall(r"^  (\d+) +(.*)$", EXIT_CODES, flags=re.MULTILINE):
        assert f"| {code} | {meaning} |" in page


def test_all_json_fields_are_described():
    """docs/guide/cli.md names every field of a result's JSON."""
    import milp_trees as mt

    result = mt.solve(
        mt.Problem(mt.Dataset([[0], [1]], y=["no", "yes"]), mt.Accuracy(), mt.Trees(max_depth=1))
    )
    described = set(re.findall(r"`([a-z_]+)`", text("docs/guide/cli.md").split("## JSON")[1]))
    assert set(result.to_json()) - {"schema"} <= described


def test_the_tables_of_plug_ins_are_up_to_date():
    """Those of the pages below are what `python docs/build_tables.py` writes."""
    spec = importlib.util.spec_from_file_location("build_tables", ROOT / "docs" / "build_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with_tables = [p for p in PAGES if module.PLACE.search(p.read_text("utf-8"))]
    assert {p.stem for p in with_tables} >= {
        "formulations",
        "methods",
        "solvers",
        "studies",
        "tasks",
    }
    for path in with_tables:
        name = str(path.relative_to(ROOT))
        assert module.page(text(name)) == text(name), "run: python docs/build_tables.py"


def test_every_formulation_is_on_the_page_of_papers():
    """With the paper it is from, or as ours."""
    from milp_trees.mip.registry import registry

    page = text("docs/project/papers.md")
    absent = [name for name in registry.classes("formulations") if f"`{name}`" not in page]
    assert not absent, f"papers.md does not say which paper {absent} are from"


def test_every_convention_of_penalties_is_described():
    """docs/guide/conventions.md has a row per convention that the code converts, and says what the
    conversion needs.
    """
    from milp_trees.tasks.conventions import CONVENTIONS

    rows = dict(
        re.findall(
            r"^\| `([a-z-]+)` \|.*\| ([a-z, ]*)\|$",
            text("docs/guide/conventions.md"),
            flags=re.MULTILINE,
        )
    )
    assert {name: needs.strip() for name, needs in rows.items()} == {
        c.name: ", ".join(c.needs) for c in CONVENTIONS.values()
    }


JOURNEYS = "".join(p.read_text("utf-8") for p in (ROOT / "tests" / "journeys").glob("*.py"))
#: Pages whose blocks tests/journeys runs, one section at a time.
DONE_BY_JOURNEYS = {
    name
    for name in (str(page.relative_to(ROOT)) for page in PAGES)
    if f'"{name}"' in JOURNEYS or name.startswith("docs/coming_from/")
}
#: Pages whose blocks are quick; those of the others run where slow tests do.
QUICK = (
    "README.md",
    "docs/guide/conventions.md",
    "docs/index.md",
    "docs/reference/unimodularity.md",
)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name in (str(page.relative_to(ROOT)) for page in PAGES if blocks(page))
        if name not in DONE_BY_JOURNEYS
    ],
)
def test_python_examples_run(page, tmp_path):
    """The Python blocks of a page run one after the other, in a folder of their own."""
    assert run_in_a_process_of_its_own("\n".join(blocks(ROOT / page)), tmp_path) == ""


#: Modules that most pages need; they import numba, pandas and Pyomo.
PRELOADED = (
    "milp_trees.plugins",
    "milp_trees.testing",
    "milp_trees.studies.study",
    "milp_trees.estimators.trees",
)


def run_in_a_process_of_its_own(code, folder):
    """Run code in a new process, which has the large libraries already; return its error or "".

    A server process imports them once, and the processes of all pages are its copies.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["typer", "sklearn.ensemble", *PRELOADED])
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(code, str(folder), there))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        process.join()
        return f"the process ended with exit code {process.exitcode}"
    finally:
        process.join()


def _run(code, folder, answer):
    """Run code as a program in a folder; send its traceback, or nothing."""
    os.chdir(folder)
    try:
        exec(compile(code, "<the page>", "exec"), {"__name__": "__main__"})
    except BaseException:
        answer.send(traceback.format_exc())
    else:
        answer.send("")


def test_an_example_that_fails_is_noticed(tmp_path):
    assert "NameError" in run_in_a_process_of_its_own("print(nothing)", tmp_path)
    assert "exit code 3" in run_in_a_process_of_its_own("import os; os._exit(3)", tmp_path)


def test_licence_and_version_agree():
    """One version in code (which the metadata read), citation and changelog; one licence."""
    import milp_trees as mt

    assert 'version = { attr = "milp_trees.__version__" }' in text("pyproject.toml")
    assert f"## {mt.__version__}" in text("CHANGELOG.md")
    assert {f"version: {mt.__version__}", "license: MIT"} <= set(text("CITATION.cff").splitlines())
    title, version = re.findall(r"^(?:title|version): (.*)$", text("CITATION.cff"), re.MULTILINE)
    cited = text("docs/start/citing.md")
    assert f"version = {{{version}}}" in cited
    assert f"title   = {{{title}" in cited
    assert f'version: "{mt.__version__}"' in text("conda/recipe/recipe.yaml")
    assert text("LICENSE").startswith("MIT License")


def test_the_conda_recipe_needs_what_the_package_needs():
    """With the same bounds; matplotlib without its windows."""
    import tomllib

    project = tomllib.loads(text("pyproject.toml"))["project"]
    needed = {f"python{project['requires-python']}", *project["dependencies"]}
    run = text("conda/recipe/recipe.yaml").partition("  run:\n")[2].partition("\ntests:")[0]
    listed = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    assert {name.replace("matplotlib-base", "matplotlib") for name in listed - {""}} == needed


def prose(page):
    """The lines of a page without code, tables, formulas and HTML."""
    plain = re.sub(r"^ *```.*?^ *```|\$\$.*?\$\$", "", text(page), flags=re.M | re.S)
    return [line for line in plain.splitlines() if not line.lstrip().startswith(("|", "<", "#"))]


def test_lines_and_sentences_are_not_too_long():
    for page in PAGES:
        lines = prose(page)
        assert [line for line in lines if len(line) > 250] == [], page
        parts = re.split(r"\n\s*\n|\n\s*[-*] |\n\s*\d+[.)] ", "\n".join(lines))
        sentences = (s for part in parts for s in re.split(r"(?<=[.!?:])\s+", part))
        assert [s for s in sentences if len(s.split()) >= 55] == [], page
