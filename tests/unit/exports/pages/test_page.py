"""A page holds the whole study, needs nothing from the network, and runs no text of the study."""

import hashlib
import json
import random
import re
import sqlite3
from base64 import b64encode

import pytest
from page_cases import EVIL, Elements, block, held, rows_of
from typer.testing import CliRunner

import milp_trees as mt
from milp_trees.cli.main import app
from milp_trees.exports.pages import report
from milp_trees.exports.pages.report import report_page
from milp_trees.studies.rows import DamagedRow, read_row
from milp_trees.studies.store import Store


@pytest.fixture(scope="module")
def page(plain_study):
    return report_page(plain_study)


def change(path, statement, *values):
    with sqlite3.connect(path) as db:
        db.execute(statement, values)
        db.execute("UPDATE hashes SET sha256 = ''")  # as in a file of an earlier version
    db.close()


def test_a_page_holds_every_run_with_its_details(page, plain_study):
    study = mt.Study.open(plain_study)
    main, details = held(page)
    rows = rows_of(main["rows"])
    assert len(rows) == len(study) == len(details["runs"]) == 12
    assert len({row["id"] for row in rows}) == 12
    for row, more, stored in zip(rows, details["runs"], study.rows, strict=True):
        for name in ("method", "status", "objective", "bound", "seconds", "agrees", "seed"):
            assert row[name] == stored[name]
        ends = [trace[-1][0] for trace in (row["trace"], stored["trace"]) if trace]
        assert len(ends) != 1
        assert ends == pytest.approx(ends[::-1], rel=1e-5)
        assert more["exact"] == stored["exact"]
        assert details["predictors"][more["predictor"]]["text"] == str(
            mt.Tree.from_json(stored["predictor"])
        )
        log = study.store.log(stored["key"], "run")
        assert (details["logs"][more["log"]] if log else "") == log
    assert set(main["problems"]) == {row["problem_key"] for row in study.rows}


def test_columns_of_the_frame_are_columns_of_the_page_with_a_sentence(page, plain_study):
    main, _ = held(page)
    assert set(mt.Study.open(plain_study).frame()) <= set(main["column_texts"])
    assert all(column["text"] and column["title"] for column in main["column_texts"].values())


def test_the_heading_says_what_was_compared_where_and_when(page):
    text = re.sub(r"<[^>]+>", " ", page[page.index("<header>") : page.index("</header>")])
    assert "3 methods on 2 problems (trees)" in text
    assert "2 seeds: 12 runs" in text
    assert "UTC" in text


def test_only_own_scripts_may_run_and_nothing_is_loaded(page):
    elements = Elements(page)
    policy = next(a["content"] for t, a in elements.found if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy.partition("style-src")[0]
    codes = [text for attributes, text in elements.scripts if not attributes and text.strip()]
    assert len(codes) == 1
    codes += [block(page, f"library-{k}") for k in range(page.count("data-library>"))]
    for code in codes:
        assert b64encode(hashlib.sha256(code.encode()).digest()).decode() in policy
    assert policy.count("sha256-") == len(codes) == 3
    tags = {tag for tag, _ in elements.found}
    assert not tags & {"link", "img", "iframe", "object", "embed", "base", "form", "video", "audio"}
    for _, attributes in elements.found:
        assert not {"src", "srcset", "action"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)
    own = codes[0]
    for word in ("fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "eval(", "innerHTML"):
        assert word not in own
    assert "url(" not in page[page.index("<style>") : page.index("</style>")]


def test_names_labels_and_messages_are_only_text(evil_file, plain_study):
    page = report_page(evil_file, plain_study)
    assert "window.ran" not in page
    main, details = held(page)
    assert any(EVIL in one["text"] for one in details["predictors"])
    assert main["against"]["rows"]["count"] == 12
    drawn = [one["svg"] for one in details["predictors"] if "svg" in one]
    assert drawn
    for svg in drawn:
        assert {tag for tag, _ in Elements(svg).found} <= {
            *("svg", "g", "rect", "path", "text", "title")
        }
    assert Elements(page).found.count(("script", {})) == 1


def test_a_title_from_the_study_is_escaped_and_is_no_template(evil_file):
    content = report.Content(report.Source.of(evil_file))
    content.title = EVIL
    page = report._page(content, None, report.DETAILS[0])
    assert "window.ran" in page
    assert ("img", {"src": "x", "onerror": "window.ran=2"}) not in Elements(page).found
    assert Elements(page).found.count(("script", {})) == 1


def test_a_store_of_an_earlier_version_opens(study_copy, page):
    with sqlite3.connect(study_copy) as db:
        for number, text in db.execute("SELECT id, result FROM runs").fetchall():
            row = json.loads(text)
            row.pop("run", None)
            row.pop("history", None)
            db.execute("UPDATE runs SET result = ? WHERE id = ?", (json.dumps(row), number))
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'runs'"
        ).fetchall():
            db.execute(f"DROP TABLE {table}")
        db.execute("PRAGMA user_version = 0")
    db.close()
    old = report_page(study_copy)
    main, _ = held(old)
    names = {one["name"] for one in main["problems"].values()}
    assert len(names) == 2
    assert all("accuracy, trees, max depth 2" in name for name in names)
    assert "does not say on which machine" in old
    assert main["rows"]["count"] == 12


def test_title_command_and_machines_come_from_the_store(study_copy):
    store = Store(study_copy)
    rows = list(store.rows())
    for name in ("one", "two", "unused"):
        machine = {"machine": name, "cpu": "A <b>", "cores": 2, "memory_mb": 4096, "command": ["x"]}
        store.add_environment(name, machine)
    store.merge(
        [],
        {
            "title": "A & B é",
            "spec": "x = 1",
            "command": "/home/me/bin/study x",
            "read/a": "7",
        },
    )
    store.close()
    for k, row in enumerate(rows):
        own = {"environment": ("one", "two")[k % 2], "worker": f"{('one', 'two')[k % 2]}/7"}
        text = json.dumps({**row, "run": own})
        change(study_copy, "UPDATE runs SET result = ? WHERE key = ?", text, row["key"])
    page = report_page(study_copy)
    main, _ = held(page)
    assert "<title>A &amp; B &#233;</title>" in page
    assert "2 different machines or software environments (one (A &lt;b&gt;, 2 cores, 4 GiB" in page
    assert page.isascii()  # so it is read alike in every encoding that a server may state
    assert set(main["meta"]["environments"]) == {"one", "two"}
    assert main["meta"]["about"] == {
        "title": "A & B é",
        "spec": "x = 1",
        "command": "study x",
    }
    assert "/home/me" not in json.dumps(main)


def test_permutations_of_a_problem_are_one_problem_and_other_data_are_another(study_copy):
    """The second problem of the study becomes a permutation of the first, or other data."""
    runs = mt.Study.open(study_copy).rows
    first, second = dict.fromkeys(row["problem_key"] for row in runs)
    data = next(row for row in runs if row["problem_key"] == first)["problem"]["data"]
    for path, count in ((data["path"], 1), ("another", 2)):
        with sqlite3.connect(study_copy) as db:
            for row in runs:
                own = {"name": "p", "permutation": int(row["problem_key"] == second)}
                if row["problem_key"] == second:
                    stated = {**data, "path": path, "arrays_sha256": "0" * 64}
                    row = {**row, "problem": {**row["problem"], "data": stated}}
                text = json.dumps({**row, "run": own})
                db.execute("UPDATE runs SET result = ? WHERE key = ?", (text, row["key"]))
                db.execute("UPDATE hashes SET sha256 = ''")
        db.close()
        main, details = held(report_page(study_copy))
        assert len(main["problems"]) == count
        assert len({row["problem"] for row in rows_of(main["rows"])}) == count
        assert {run["problem_key"] for run in details["runs"]} == {first, second}


def test_damaged_rows_are_left_out_and_the_page_says_so(study_copy):
    change(study_copy, "UPDATE runs SET result = '{' WHERE id = 2")
    change(
        study_copy,
        "UPDATE runs SET result = json_set(result, '$.predictor.root', json('{\"action\": 9}')) WHERE id = 4",
    )
    main, details = held(report_page(study_copy))
    assert [line for line in main["meta"]["left_out"] if "Row 2 " in line]
    assert any("cannot be read" in one["text"] for one in details["predictors"])


def test_entries_of_a_run_that_are_of_other_kinds_make_it_a_damaged_row(plain_study):
    """Each of them ended in a traceback in some part of the page."""
    row = mt.Study.open(plain_study).rows[0]
    assert read_row(json.dumps({**row, "run": {"name": "p", "limits": {"time": 2}}}))
    for damage in (
        *({"run": {name: 5}} for name in ("name", "data", "started", "worker", "environment")),
        {"run": {"permutation": "x"}},
        {"run": {"limits": {"time": "x"}}},
        {"run": {"crashes": 2}},
        {"trace": [[1, [], None]]},
    ):
        with pytest.raises(DamagedRow, match=r"(run\.|trace)"):
            read_row(json.dumps({**row, **damage}))


def test_a_large_study_keeps_within_its_size_and_says_what_is_cut(study_copy, page, monkeypatch):
    """Rows made from copies, with long logs and traces that hardly compress."""
    rng = random.Random(0)
    row = mt.Study.open(study_copy).rows[0]
    store = Store(study_copy)
    with store._db:  # one transaction: rows of a study are written one by one
        for k in range(40):
            trace = [[t / 10, 100.0 - t - rng.random(), rng.random()] for t in range(320)]
            log = "\n".join(str(rng.random()) for _ in range(400))
            own = {"seconds": 9 * rng.random(), "trace": trace}
            values = (f"k{k}", row["problem_key"], k, json.dumps({**row, **own}), log)
            store._db.execute(
                "INSERT INTO runs (key, role, problem, seed, method, status, finished, result, log) "
                "VALUES (?, 'run', ?, ?, 'dp', 'optimal', '2026-01-01T00:00:00', ?, ?)",
                values,
            )
        store._db.execute("INSERT OR IGNORE INTO hashes SELECT id, '' FROM runs")
    store.close()
    most = len(page.encode()) + 100_000
    monkeypatch.setattr(report, "LARGEST_PAGE", most)
    large = report_page(study_copy)
    assert len(large.encode()) < most
    main, _ = held(large)
    detail = main["meta"]["detail"]
    assert detail["log"] < 8_000
    assert detail["logs_cut"] >= 40
    assert detail["traces_thinned"] >= 40
    assert main["rows"]["count"] == 52


def test_what_is_no_study_or_has_no_runs_is_refused_in_one_sentence(tmp_path, plain_study):
    with pytest.raises(mt.MilpTreesError, match="There is no study file"):
        mt.write_report(tmp_path / "absent.db", tmp_path / "page.html")
    Store(tmp_path / "empty.db").close()
    with pytest.raises(mt.MilpTreesError, match="has no runs yet"):
        mt.write_report(tmp_path / "empty.db", tmp_path / "page.html")
    with pytest.raises(mt.MilpTreesError, match="cannot be written"):
        mt.write_report(plain_study, tmp_path / "absent" / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_command_writes_the_page_beside_the_study(study_copy):
    reported = CliRunner().invoke(app, ["report", str(study_copy), "--json"])
    assert reported.exit_code == 0, reported.output
    page = study_copy.with_suffix(".html")
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(reported.stdout) == {"page": str(page), "bytes": page.stat().st_size}
    refused = CliRunner().invoke(app, ["report", str(study_copy) + "x"])
    assert refused.exit_code == 1
    assert "There is no study file" in refused.output


def test_a_page_does_not_replace_a_study(study_copy):
    before = study_copy.read_bytes()
    reported = CliRunner().invoke(app, ["report", str(study_copy), "-o", str(study_copy)])
    assert reported.exit_code == 1
    assert "would be replaced" in reported.output
    assert study_copy.read_bytes() == before
