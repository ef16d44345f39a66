"""Ten things that a script does which compares methods, as the site says."""

import json
import sqlite3

PAGE = "docs/start/benchmark_script.md"


def test_compare_methods_in_one_call(done):
    frame = done(1).names["frame"].set_index("method")
    assert frame.loc["dp", "objective"] == frame.loc["state-flow@highs", "objective"] == 50
    assert frame.loc["state-flow@highs", "agrees"]


def test_read_results_as_json(done):
    row = json.loads(done(2).printed)
    assert (row["status"], row["objective"], row["bound"]) == ("optimal", 50, 50)


def test_fix_limits_threads_and_seeds(done):
    stated = done(3).names["result"].to_json()
    assert stated["start"]["method"] == "cart"
    assert stated["options"]["seed"] == 7


def test_continue_a_comparison_that_was_stopped(done):
    assert done(4).printed == "True\n"


def test_state_many_runs_in_one_file(done):
    printed = done(5).printed
    assert "12 runs" in printed


def test_run_them_and_resume(done, tmp_path):
    done(6)
    assert (tmp_path / "tiny.db").exists()


def test_make_the_table_of_a_paper(done):
    printed = done(7).printed
    assert printed.startswith("4\n")
    assert r"\toprule" in printed
    assert "cart" in printed


def test_draw_a_figure(done, tmp_path):
    done(8)
    assert "<svg" in (tmp_path / "profile.svg").read_text()


def test_send_everything_around_as_one_page(done, tmp_path):
    done(9)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "https://" not in page.split("<body>")[0]
    assert sqlite3.connect(tmp_path / "page.db").execute("select 1").fetchone() == (1,)


def test_stop_a_script_when_an_answer_is_wrong(done):
    assert done(10).commands[-1][0] == "verify"
