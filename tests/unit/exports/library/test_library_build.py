"""Libraries are built from problems × formulations: files, claims, resume, page."""

import gzip
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from library_cases import Tiny

import milp_trees as mt
from milp_trees.exports.library import build as building
from milp_trees.exports.library import making
from milp_trees.exports.library.build import Entry, build
from milp_trees.exports.library.making import Effort, instance_name
from milp_trees.exports.library.page import page
from milp_trees.exports.library.registry import near, read_registry
from milp_trees.exports.library.sources import source_of
from milp_trees.mip.solver import Answer
from milp_trees.results.result import Limit, Status

ABOUT = {"title": "tiny", "version": "1"}


def test_a_library_states_each_answer_with_its_proof(tiny_library):
    """Three kinds of problems, one of them infeasible; each proof is derived again by an engine that
    shares nothing with the first, and by every solver from the file alone."""
    folder, registry = tiny_library
    claims = {one.instance: (one.claim, one.objective, one.value) for one in registry.instances}
    assert claims == {
        "cannot-hold--flow-oct": ("inf", None, ""),
        "groups--ip3": ("opt", 137.0, "137/320"),
        "xor--flow-oct": ("opt", 0.0, "0"),
        "xor--state-flow": ("opt", 0.0, "0"),
    }
    for one in registry.instances:
        assert one.status == "easy"
        by_file = not one.instance.startswith("cannot-hold")
        assert one.evidence == ("proved by file" if by_file else "derived again"), one
        assert (folder / f"{one.instance}.proof").exists() == by_file == bool(one.proof)
        engines = [name for name in one.derived_by.split("; ") if "@" not in name]
        assert engines
        assert one.proved_by not in engines
        assert {run["status"] for run in one.runs.values()} <= {"optimal", "infeasible"}
        assert set(one.runs) == set(registry.about["solvers"])
    assert (folder / "library.solu").read_text().splitlines()[:2] == [
        "=inf=  cannot-hold--flow-oct",
        "=opt=  groups--ip3  137",
    ]
    assert {path.name for path in folder.iterdir()} == {
        *(one.model for one in registry.instances),
        *(one.solution for one in registry.instances if one.solution),
        *(one.proof for one in registry.instances if one.proof),
        *("registry.json", "registry.csv", "library.solu", "SHA256SUMS", "index.html"),
    }


def test_objectives_are_compared_exactly_where_costs_are_exact(tiny_library):
    """Where they are real numbers, a difference within the tolerance of the view is none."""
    _, registry = tiny_library
    assert {one.tolerance for one in registry.instances} == {0.0}
    assert not near(31261.954, 31261.895)
    assert near(31261.954, 31261.895, 1.0)


def test_formulations_whose_rows_are_found_later_are_refused_with_their_sentence(tiny_library):
    _, registry = tiny_library
    (refused,) = registry.refused
    assert refused["formulation"] == "benders-oct"
    assert "rows are found while it is solved" in refused["reason"]
    assert "rows are found while it is solved" in page(registry)


def test_the_same_problem_gives_the_same_bytes(tiny_library, tmp_path):
    """Model and solution files hold no time, and no name of a folder."""
    folder, _ = tiny_library
    build([Entry(Tiny("xor"), ("state-flow",))], tmp_path, ABOUT, Effort(5, 5))
    for name in ("xor--state-flow.mps.gz", "xor--state-flow.sol"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    assert gzip.decompress((tmp_path / "xor--state-flow.mps.gz").read_bytes())[:2] == b"* "


def test_a_build_that_is_stopped_goes_on_where_it_was(tmp_path, monkeypatch):
    """Problems that are finished are not made again, neither after Ctrl-C nor after the end; one
    whose file is damaged, or whose formulations changed, is."""
    made = []
    entries = [Entry(Tiny("xor"), ("state-flow",)), Entry(Tiny("groups", "pruned"), ("ip3",))]

    def counted(about, *rest):
        made.append(about.name)
        if made == ["xor", "groups"]:
            raise KeyboardInterrupt
        return make(about, *rest)

    make = building.make_problem
    monkeypatch.setattr(building, "make_problem", counted)
    with pytest.raises(KeyboardInterrupt):
        build(entries, tmp_path, ABOUT, Effort(5, 5))
    build(entries, tmp_path, ABOUT, Effort(5, 5))
    assert made == ["xor", "groups", "groups"]
    build(entries, tmp_path, ABOUT, Effort(5, 5))
    assert made == ["xor", "groups", "groups"]
    (tmp_path / "xor--state-flow.sol").write_text("=obj= 1\n")
    build([entries[0]], tmp_path, ABOUT, Effort(5, 5))
    assert made[3:] == ["xor"]
    assert not (tmp_path / "groups--ip3.sol").exists()
    assert mt.check_library(tmp_path, solvers=()).ok


def test_hard_in_one_form_and_easy_in_another_is_said(tmp_path, monkeypatch):
    """The solvers end at the limit on one form; the optimum of that file is known all the same."""
    solve = making.read_and_solve

    def slow(file, path, limits):
        answers = solve(file, path, limits)
        if "state-flow" in path.name:
            return answers
        ended = {"status": Status.NO_SOLUTION, "limit": Limit.TIME, "x": None, "objective": None}
        return {s: replace(a, **ended, bound=-5.0) for s, a in answers.items()}

    monkeypatch.setattr(making, "read_and_solve", slow)
    entries = [Entry(Tiny("xor"), ("flow-oct", "state-flow"))]
    registry = build(entries, tmp_path, ABOUT, Effort(5, 5))
    hard, easy = registry.instances
    assert (hard.status, hard.claim, hard.objective) == ("hard", "opt", 0.0)
    assert hard.easy_as == "state-flow"
    assert (easy.status, easy.easy_as) == ("easy", "")
    assert "Hard in this form, easy in another" in page(registry)
    assert mt.check_library(tmp_path, solvers=()).ok


def test_a_problem_that_nothing_proves_is_open_with_the_best_value(tmp_path, monkeypatch):
    """Claim =best= with a solution, or =unkn= if none is known; solvers then have news."""
    monkeypatch.setattr(making, "read_and_solve", lambda *given: {})
    from milp_trees.exports.library.known import Known
    from milp_trees.solving.attempt import attempt, named_method

    def heuristic(problem, seconds, memory_mb):
        known = Known(problem)
        if problem.space.name == "trees":
            known.take(attempt(named_method("cart"), problem, Effort().limits))
        return known

    monkeypatch.setattr(making, "known_of", heuristic)
    entries = [Entry(Tiny("xor"), ("state-flow",)), Entry(Tiny("groups", "pruned"), ("ip3",))]
    registry = build(entries, tmp_path, ABOUT, Effort(5, 5))
    unknown, best = registry.instances
    assert (best.status, best.claim, best.evidence) == ("open", "best", "nothing proved")
    assert best.bound == 0.0  # of the linear relaxation
    assert (unknown.status, unknown.claim, unknown.objective) == ("open", "unkn", None)
    assert (tmp_path / "library.solu").read_text() == (
        f"=unkn=  groups--ip3\n=best=  xor--state-flow  {best.objective:g}\n"
    )
    checked = mt.check_library(tmp_path, solvers=["highs"])
    assert checked.ok
    assert any("settles" in one for row in checked.instances for one in row.news)


def test_solvers_that_contradict_a_proof_stop_the_build(tmp_path, monkeypatch):
    """Nothing is registered then: one of the two is wrong."""

    def lying(file, path, limits):
        return {"highs": Answer(Status.INFEASIBLE)}

    monkeypatch.setattr(making, "read_and_solve", lying)
    with pytest.raises(mt.errors.VerificationError, match="nothing is feasible"):
        build([Entry(Tiny("xor"), ("state-flow",))], tmp_path, ABOUT, Effort(5, 5))
    assert not (tmp_path / "registry.json").exists()


def test_names_are_text_and_no_markup(tiny_library):
    """A name from a SPEC, or a source of data, that looks like HTML is shown as it is."""
    _, registry = tiny_library
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    rows = tuple(
        replace(one, problem=evil, group=evil, source=evil, licence=evil, unit=evil, easy_as=evil)
        for one in registry.instances
    )
    refused = ({"problem": evil, "formulation": evil, "reason": evil},)
    shown = page(
        replace(registry, about={**registry.about, "title": evil}, instances=rows, refused=refused)
    )
    tags = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.append((tag, dict(attrs)))

    Reader().feed(shown)
    assert [tag for tag, _ in tags].count("script") == 1
    assert not any(tag == "img" or "onerror" in attrs for tag, attrs in tags)
    assert "&lt;script&gt;alert(1)" in shown


def test_names_of_files_are_plain_and_two_problems_do_not_share_one(tmp_path):
    assert instance_name("uci/iris/depth=2", "flow-oct:merge_rows=off") == (
        "uci-iris-depth2--flow-oct-merge-rowsoff"
    )
    assert instance_name("../..", "oct") == "x--oct"
    with pytest.raises(mt.DataError, match="would both be the instance"):
        build([Entry(Tiny("a b"), ("oct",)), Entry(Tiny("a-b"), ("oct",))], tmp_path, ABOUT)


def test_a_folder_with_other_files_is_not_written_to(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(mt.DataError, match="holds other files and no library"):
        build([Entry(Tiny("xor"), ("oct",))], tmp_path, ABOUT)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_only_data_with_a_known_licence_may_be_published():
    """Data sets of scikit-learn and generated ones; a file of the user's is not."""
    assert source_of({"path": "iris", "sha256": "0"}).published
    assert source_of({"path": "planted:rows=9", "generator": "planted"}).published
    mine = source_of({"path": "/home/me/iris.csv", "sha256": "0" * 64})
    assert not mine.published
    assert "/home/me" not in mine.text
    assert "user's copy" in mine.licence
    assert source_of({"path": "loans.csv"}, "CC0").published  # the SPEC states it


def test_a_registry_is_read_as_it_was_written(tiny_library):
    folder, registry = tiny_library
    again = read_registry(folder)
    assert again.instances == registry.instances
    assert again.to_json() == (folder / "registry.json").read_text()
