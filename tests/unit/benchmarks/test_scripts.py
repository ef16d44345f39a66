"""Every script of `benchmarks/` is imported and says its help, and where that takes no more than a
second or two, its smallest case runs. Nothing is written into the checkout.
"""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
#: Script → options of its smallest case. The others take long, start many processes, need another
#: package, or are run by tests of their own.
SMALLEST = {
    "before_after": f"{FOLDER.parent} {FOLDER.parent} --cases dp-sizes --smallest --repeat 1",
    "cold_limits": "greedy",
    "decomposition": "--trees 2 --methods min-cut subgradient",
    "dp_lists": "--part adult --repeat 1 --limit 0.1",
    "estimates": "--only iris --depths 1 --limit 2",
    "first_answers": "--only iris --depths 1 --limit 5",
    "handover": "--rows 30 --tests 4 --depth 1 --repeat 1",
    "large_csv": "--rows 1000",
    "proof_limits": "10",
    "proofs": "--only sparse --sets monk1",
    "pruning_table1": "--data heart --trees 2 --folds 2 --repeats 1",
    "regression": "--sections penalised --problems 3 --peers none",
    "spo_milp": "--rows 20 --degrees 2 --depths 1 --thresholds 2 --programs spot --time-limit 5",
    "spo_two_roads": "",
    "study_overhead": "--part 1 --runs 5",
}


@pytest.fixture
def called(monkeypatch, tmp_path):
    """A function that calls a script by name with options, in a folder of its own."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.chdir(tmp_path)

    def call(name, *options):
        script = importlib.import_module(name)
        for module in (script, *map(importlib.import_module, ("_spo", "_plots"))):
            for place in {"RESULTS", "FOLDER"} & set(vars(module)):
                made = Path(getattr(module, place))
                if not made.suffix:
                    (tmp_path / made.name).mkdir(exist_ok=True)
                monkeypatch.setattr(module, place, tmp_path / made.name)
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
        return script.main()

    return call


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_its_help(name, called, capsys):
    with pytest.raises(SystemExit, match="0"):
        called(name, "--help")
    assert f"usage: {name}.py" in capsys.readouterr().out


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_case_of_a_script_runs(name, called, capsys, data_folder):
    if name == "before_after" and not (FOLDER.parent / ".venv").exists():
        pytest.skip("the checkout has no .venv, which the script asks for")
    assert not called(name, *SMALLEST[name].split())
    assert capsys.readouterr().out
