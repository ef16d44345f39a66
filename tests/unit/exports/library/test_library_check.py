"""A damaged library is found, whatever was damaged, and by which sentence."""

import dataclasses
import gzip
import json
import shutil
from fractions import Fraction

import pytest

import milp_trees as mt
from milp_trees.exports.library.known import from_file
from milp_trees.exports.library.page import page
from milp_trees.exports.library.proofs import statement_hash
from milp_trees.exports.library.registry import (
    Registry,
    checksums,
    files_of,
    read_registry,
    replace_text,
    sha256,
)
from milp_trees.results.result import Status
from milp_trees.verification.proof_files import read_statement


@pytest.fixture
def library(tiny_library, tmp_path):
    """A copy that a test may damage."""
    folder = tmp_path / "library"
    shutil.copytree(tiny_library[0], folder)
    return folder


def test_a_library_stands_and_every_solver_says_so(tiny_library):
    found = []
    checked = mt.check_library(tiny_library[0], time_limit=20, progress=found.append)
    assert checked.ok
    assert checked.wrong == ()
    assert [one.instance for one in checked.instances] == sorted(one.instance for one in found)
    for one in checked.instances:
        assert len(one.said.split(", ")) == len(tiny_library[1].about["solvers"])


def change(path, *pairs):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    for old, new in pairs:
        assert old in text, text
        text = text.replace(old, new, 1)
    path.write_bytes(
        gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode()
    )


def a_changed_coefficient(library):
    change(library / "groups--ip3.mps.gz", (" -1.0\n", " -2.0\n"))
    return "groups--ip3.mps.gz does not have the checksum"


def a_wrong_objective(library):
    change(library / "groups--ip3.sol", ("=obj= 137", "=obj= 136"))
    return "groups--ip3.sol states the objective 136, but its point has 137"


def swapped_solutions(library):
    a, b = library / "xor--flow-oct.sol", library / "xor--state-flow.sol"
    one, other = a.read_bytes(), b.read_bytes()
    a.write_bytes(other)
    b.write_bytes(one)
    return "the model has no column"


def a_missing_model(library):
    (library / "xor--flow-oct.mps.gz").unlink()
    return "xor--flow-oct.mps.gz is missing"


def a_missing_solution(library):
    (library / "xor--flow-oct.sol").unlink()
    return "xor--flow-oct.sol is missing"


def an_unknown_file(library):
    (library / "better.mps").write_text("mine")
    return "better.mps is not in the registry"


def a_tampered_table(library):
    change(library / "registry.csv", ("groups--ip3,easy", "groups--ip3,hard"))
    return "registry.csv says something else than registry.json"


def a_tampered_solu_file(library):
    change(library / "library.solu", ("=opt=  groups--ip3", "=best=  groups--ip3"))
    return "library.solu says something else than registry.json"


def a_tampered_registry(library):
    change(library / "registry.json", ('"objective": 137.0', '"objective": 130.0'))
    return "states the objective 137, and the registry 130"


def a_damaged_archive(library):
    path = library / "groups--ip3.mps.gz"
    path.write_bytes(path.read_bytes()[:200])
    return "is not gzipped, or is damaged"


def no_checksums(library):
    (library / "SHA256SUMS").write_text("")
    return "groups--ip3.mps.gz does not have the checksum in SHA256SUMS"


def bytes_that_are_no_text(library):
    for name in ("registry.csv", "SHA256SUMS"):
        (library / name).write_bytes(b"\xff\xfe")
    return "registry.csv says something else than registry.json"


def a_whole_objective(library):
    change(library / "registry.json", ('"objective": 137.0', '"objective": 130'))
    return "states the objective 137, and the registry 130"


@pytest.mark.parametrize(
    "damage",
    [
        no_checksums,
        bytes_that_are_no_text,
        a_whole_objective,
        a_changed_coefficient,
        a_wrong_objective,
        swapped_solutions,
        a_missing_model,
        a_missing_solution,
        an_unknown_file,
        a_tampered_table,
        a_tampered_solu_file,
        a_tampered_registry,
        a_damaged_archive,
    ],
    ids=lambda damage: damage.__name__,
)
def test_damage_is_found_without_solving(damage, library):
    """By checksums, the solutions, or the registry itself."""
    sentence = damage(library)
    checked = mt.check_library(library, solvers=())
    assert not checked.ok
    assert any(sentence in wrong for wrong in checked.wrong), checked.wrong


def rewritten(library, **changes):
    """The library with changed columns of rows, and everything else made to agree with them."""
    held = read_registry(library)
    rows = []
    for one in held.instances:
        one = dataclasses.replace(one, **changes.get(one.instance.replace("-", "_"), {}))
        digests = {"bytes": (library / one.model).stat().st_size}
        digests["model_sha256"] = sha256(library / one.model)
        if one.solution:
            digests["solution_sha256"] = sha256(library / one.solution)
        rows.append(dataclasses.replace(one, **digests))
    made = Registry(held.about, tuple(rows), held.refused)
    replace_text(library / "registry.json", made.to_json())
    replace_text(library / "registry.csv", made.to_csv())
    replace_text(library / "library.solu", made.to_solu())
    replace_text(library / "index.html", page(made))
    replace_text(library / "SHA256SUMS", checksums(library, files_of(made)))


def test_a_changed_coefficient_is_found_though_all_checksums_fit(library):
    """The cost of a column that the solution uses, so the solution has another objective."""
    used = (library / "groups--ip3.sol").read_text().splitlines()[1].split()[0]
    text = gzip.decompress((library / "groups--ip3.mps.gz").read_bytes()).decode()
    line = next(line for line in text.splitlines() if line.startswith(f" {used} obj "))
    change(library / "groups--ip3.mps.gz", (line, f" {used} obj 7001.0"))
    rewritten(library)
    checked = mt.check_library(library, solvers=["highs"], only="groups*")
    assert any("groups--ip3" in wrong for wrong in checked.wrong), checked.wrong


def test_a_worse_solution_that_is_called_optimal_is_found_by_solving(library):
    """The file, its solution, the registry and all checksums agree: only the proof and solvers know."""
    solution = library / "groups--ip3.sol"
    from milp_trees.mip.linear.reading import read_model
    from milp_trees.mip.linear.solutions import read_solution, write_solution

    file = read_model(library / "groups--ip3.mps.gz")
    _, best = read_solution(solution, file.columns)
    worse = next(
        point
        for point in _others(file, best)
        if file.model.violation(point) <= 1e-9 and file.model.objective(point) > 137
    )
    write_solution(file, worse, solution)
    objective = file.model.objective(worse)
    from fractions import Fraction

    held = next(o for o in read_registry(library).instances if o.instance == "groups--ip3")
    value = Fraction(held.offset) + Fraction(held.scale) * Fraction(objective)
    gap = {"integrality_gap": round((objective - 137) / objective, 6)}
    gap["root_gap"] = gap["integrality_gap"]
    claim = {"objective": objective, "bound": objective, "value": str(value), **gap}
    rewritten(library, groups__ip3=claim)
    wrong = mt.check_library(library, solvers=()).wrong
    assert f"groups--ip3.proof proves the value 137/320, and the registry has {value}." in wrong
    checked = mt.check_library(library, only="groups*")
    assert any("below the bound" in wrong for wrong in checked.wrong), checked.wrong


def _others(file, best):
    """Optima after other costs: feasible points that differ."""
    import numpy as np

    from milp_trees.common.limits import Limits
    from milp_trees.mip import runner
    from milp_trees.mip.solver import Job

    for j in np.flatnonzero(file.model.integer):
        costs = np.zeros(file.model.n_variables)
        costs[j] = 2 * best[j] - 1
        other = dataclasses.replace(file.model, c=costs)
        answer = runner.run("highs", Job(other, Limits(time=10)))
        if answer.x is not None:
            yield file.model.rounded(answer.x)


def test_a_feasible_problem_that_is_called_infeasible_is_found_by_solving(library):
    claim = {"claim": "inf", "objective": None, "bound": None, "value": "", "solution_sha256": ""}
    gaps = {"integrality_gap": None, "root_gap": None}
    (library / "groups--ip3.sol").unlink()
    rewritten(library, groups__ip3={**claim, **gaps})
    message = mt.check_library(library, solvers=()).wrong
    assert "groups--ip3 is called =inf=, and its proof is about an optimum." in message
    checked = mt.check_library(library, solvers=["scip"], only="groups*")
    assert any("called infeasible" in wrong for wrong in checked.wrong)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"status": "open"}, "is called open, but"),
        ({"bound": 100.0}, "is called optimal with the objective"),
        ({"integrality_gap": 0.5}, "has the integrality_gap 0.5"),
        (
            {"evidence": "derived again", "derived_by": "", "proof_sha256": ""},
            "derived by nobody",
        ),
        ({"proved_by": ""}, "nobody is named"),
        ({"value": "1/2"}, "has the value 1/2"),
        ({"claim": "best"}, "which was open"),
        ({"variables": 3}, "and the registry says 3"),
        ({"unit": "cats"}, "does not state the value of the registry"),
        ({"sense": "max"}, "does not state the value of the registry"),
        ({"formulation": "oct"}, "is not the name of the problem"),
        ({"licence": "none", "published": False}, "not called published"),
        ({"proved_by": "anyone"}, "there is no such method"),
        ({"derived_by": "min-cut; anyone"}, "there is no such method"),
        ({"solvers": "cats 0.1 s"}, "names the solvers cats"),
        ({"tolerance": 5.0}, "has the tolerance 5.0"),
        ({"easy_as": "oct"}, "is called easy as oct"),
        ({"runs": {"anyone": {"status": "optimal"}}}, "which is no solver of this library"),
        ({"runs": {"highs": {"status": "infeasible"}}}, "proves it infeasible"),
        ({"statement_sha256": "0" * 64}, "proves another statement"),
        ({"lp_bound": 120.0, "integrality_gap": 0.124088}, "has the linear relaxation"),
    ],
    ids=lambda given: "-".join(given) if isinstance(given, dict) else None,
)
def test_a_registry_that_contradicts_itself_or_its_files_is_found(changes, sentence, library):
    """Though all checksums fit."""
    rewritten(library, groups__ip3=changes)
    checked = mt.check_library(library, solvers=["highs"], only="groups*")
    message = [*checked.wrong, *(news for one in checked.instances for news in one.news)]
    assert any(sentence in one for one in message), message


def test_two_forms_of_one_problem_with_two_answers_are_found(library):
    rewritten(library, xor__state_flow={"value": "1", "offset": "1"})
    checked = mt.check_library(library, solvers=(), only="groups*")
    assert any("they are the same problem" in wrong for wrong in checked.wrong)


@pytest.mark.parametrize(
    "damage",
    [
        lambda held: held.pop("about"),
        lambda held: held.update(schema="other"),
        lambda held: held["instances"][0].update(instance="../../etc/passwd"),
        lambda held: held["instances"][0].update(instance=None),
        lambda held: held["instances"][0].update(claim="sure"),
        lambda held: held["instances"][0].update(scale="x"),
        lambda held: held["instances"][0].update(scale="1/0"),
        lambda held: held["instances"][0].update(offset=""),
        lambda held: held["instances"][0].update(value="1e999999999"),
        lambda held: held["instances"][0].update(instance="x" * 300),
        lambda held: held.update(about=None),
        lambda held: held["instances"][0].update(rows="3"),
        lambda held: held["instances"][0].update(runs={"highs": {}}),
    ],
)
def test_a_registry_that_makes_no_sense_is_one_sentence(damage, library):
    path = library / "registry.json"
    held = json.loads(path.read_text())
    damage(held)
    path.write_text(json.dumps(held))
    with pytest.raises(mt.DataError, match=r"registry.json is damaged: [^\n]*\.$"):
        mt.check_library(library)


def test_a_pattern_without_an_instance_and_an_unfinished_build_are_said(library):
    with pytest.raises(mt.DataError, match="No instance of"):
        mt.check_library(library, only="nothing*")
    (library / "unfinished").mkdir()
    assert "is not finished" in mt.check_library(library, solvers=()).wrong[0]


def test_a_proof_of_another_problem_with_the_same_optimum_is_refused(library):
    """It is a proof that holds, with the right value and checksums that fit."""
    data = mt.Dataset([[0], [1]], y=["a", "b"])
    other = mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=1))
    held = {one.instance: one for one in read_registry(library).instances}
    one = held["xor--flow-oct"]
    result = mt.solve(other, "dp", reference=None, proof=library / one.proof)
    assert str(result.value.exact) == one.value
    for statement in (one.statement_sha256, statement_hash(read_statement(library / one.proof))):
        row = {"proof_sha256": sha256(library / one.proof), "statement_sha256": statement}
        rewritten(library, xor__flow_oct=row)
        wrong = mt.check_library(library, solvers=(), only="xor--flow*").wrong
        assert any("proves another statement" in message for message in wrong), wrong


def test_a_page_that_says_something_else_is_found(library):
    change(library / "index.html", ("proved by file", "proved by me"))
    names = files_of(read_registry(library))
    replace_text(library / "SHA256SUMS", checksums(library, names))
    wrong = mt.check_library(library, solvers=(), only="xor--flow*").wrong
    assert "index.html says something else than registry.json." in wrong


def test_a_licence_that_only_the_specification_states_is_named_so(library):
    rewritten(library, xor__flow_oct={"licence": "CC0"})
    assert "CC0 (as the SPEC gives it)" in (library / "index.html").read_text()


@pytest.mark.parametrize(
    ("off", "status"), [(0, Status.OPTIMAL), (1e-7, Status.OPTIMAL), (-1, Status.FEASIBLE)]
)
def test_the_optimum_of_a_file_meets_the_bound_of_its_solver(off, status):
    """A model that decodes to more than the solver proves is no optimum, whatever it says."""
    data = mt.Dataset([[0], [0], [1]], y=[0, 1, 1])
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(1))
    best = mt.registry.method("enumerate").run(problem)
    given = (problem, "flow-oct", "highs", best.tree, Status.OPTIMAL)
    assert from_file(*given, Fraction(best.objective) + Fraction(off), 1.0).status is status
    with pytest.raises(mt.errors.VerificationError, match="claims the bound 2"):
        from_file(*given, Fraction(2), 1.0)
