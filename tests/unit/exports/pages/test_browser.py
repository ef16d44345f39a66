"""A page in a real browser: what it shows follows the filters and the link, and nothing else runs."""

import csv
import io
import re
import xml.etree.ElementTree as ET

import browser_rows
import pytest
from browser_tools import at, change, near, saved, show, until

from milp_trees.exports.pages.report import write_report
from milp_trees.studies import measures
from milp_trees.studies.measures.instances import lines as own_lines
from milp_trees.studies.measures.instances import times
from milp_trees.tasks.comparing import SOLVER_SLACK

#: Sections that are made of runs, all of which must follow the filters.
OF_RUNS = ["summary", "methods", "solved", "profile", "target", "integrals", "ratios", "pair"]
OF_RUNS += ["ranks", "variability", "curves", "runs"]
#: Those of times, which must name their time-out mode.
TIMED = ["methods", "solved", "profile", "ratios", "pair", "ranks"]


@pytest.fixture(scope="module")
def study():
    return browser_rows.study(browser_rows.template())


@pytest.fixture(scope="module")
def files(study, tmp_path_factory):
    folder, first = tmp_path_factory.mktemp("pages"), study.rows[0]
    old = browser_rows.study(first, slower=0.3, wrong=True)
    mixed = browser_rows.study(first, machines=("m1", "m2"))
    wrong = browser_rows.study(first, wrong=True)
    wrong.rows = [{**row, "agrees": None} for row in wrong.rows]
    return {
        "one": write_report(study, folder / "one.html", against=old),
        "wrong": write_report(wrong, folder / "wrong.html"),
        "mixed": write_report(mixed, folder / "mixed.html"),
    }


pytestmark = pytest.mark.usefixtures("nothing_wrong")


@pytest.fixture(scope="module")
def shared(files, opened):
    return opened(files["one"])


@pytest.fixture
def page(shared):
    """The page of the study, as it is when it is opened."""
    shared.evaluate("location.hash = ''")
    until(shared, "!M.state.fragment() && !document.querySelector('dialog[open]')")
    return shared


def shown(page):
    """The markup of every section, without the numbers that Plot counts its clips with."""
    text = "ids => Object.fromEntries(ids.map(id => [id, document.getElementById(id).innerHTML]))"
    found = page.evaluate(text, [*OF_RUNS, "versions"])
    return {k: re.sub(r"plot-[\w-]+", "plot", markup) for k, markup in found.items()}


def test_filters_recompute_every_aggregate_and_every_figure(page):
    change(page)
    before = shown(page)
    page.locator('[data-filter="seed"] summary').click()
    page.locator('[data-filter="seed"] input').first.check()
    assert page.locator("#count").inner_text().startswith("30 of 60")
    boxes = page.locator('[data-filter="method"] li')
    left = dict(zip(*(boxes.locator(part).all_text_contents() for part in (".value", ".count"))))
    assert left == dict.fromkeys(browser_rows.METHODS, "6")
    change(page)
    after = shown(page)
    assert [name for name in before if before[name] == after[name]] == []
    left = page.evaluate("M.measures.summary(M.filtered, 'limit')")
    assert page.locator("#methods tbody tr").count() == len(left) + 1
    change(page, **{"only.method": ["dp"]})
    assert page.locator("#solved .legend").count() == 1
    assert "Two methods" in page.locator("#pair .nothing").inner_text()
    show(page, "solved")
    change(page, whole=False, search="nothing is called that")
    page.locator("#solved .nothing").wait_for()


def test_a_link_shows_the_same_view(page, files, opened):
    change(
        page,
        **{"mode": "par10", "base": "dp", "target": 0.05, "integral": "primal", "shift": 10},
        **{"scales": ["profile.x", "solved.x"], "sort.methods": "-par10", "only.seed": ["1"]},
        **{"slower_factor": 1.5, "sort": "-seconds", "other": "cart"},
    )
    expected, fragment = shown(page), page.evaluate("location.hash")
    again = opened(files["one"], fragment)
    change(again)
    assert shown(again) == expected
    again.close()


def test_every_figure_of_times_names_its_time_out_mode_and_follows_it(page):
    def said():
        return {
            name: page.locator(f"#{name} svg, #{name} caption").first.evaluate(
                "node => node.getAttribute('aria-label') || node.textContent"
            )
            for name in TIMED
        }

    for mode, sentence in measures.TIMEOUTS.items():
        change(page, mode=mode)
        assert all(f"time-out mode {mode}: {sentence}" in text for text in said().values())
    # Cart proves nothing, so no instance is common to all; it is left out and named.
    assert all("cart" in text.partition("proved nothing")[2] for text in said().values())


def test_a_pointer_finds_curves_and_a_button_changes_the_scale(page):
    show(page, "profile")
    figure = page.locator("#profile svg")
    box = figure.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.4)
    tip = page.locator('#profile [aria-label="tip"]')
    assert re.search(r"time / time of the fastest: .* % of instances", tip.text_content())
    page.mouse.move(0, 0)
    path = page.locator("#profile g.series path").first
    before = path.get_attribute("d")
    page.locator('#profile [data-axis="x"]').click()
    assert page.evaluate("M.state.get('scales')") == ["profile.x"]
    assert path.get_attribute("d") != before
    page.locator("#profile .legend").first.hover()
    assert page.locator('#profile [style*="opacity: 0.15"]').count() >= 3


def test_rows_are_saved_as_csv_a_figure_as_svg_a_table_as_latex(page, study):
    change(page, **{"only.seed": ["0"]})
    with page.expect_download() as caught:
        page.locator("#runs").get_by_role("button", name="CSV").click()
    lines = list(csv.DictReader(io.StringIO(caught.value.path().read_text("utf-8"), newline="")))
    frame = study.frame()
    frame = frame[frame["seed"] == 0]
    assert [line["name"] for line in lines] == list(frame["name"])
    assert [float(line["seconds"]) for line in lines] == list(frame["seconds"])
    assert set(frame) <= set(lines[0])

    drawn = ET.fromstring(saved(page, "profile", "SVG"))
    text = " ".join(drawn.itertext())
    assert "Performance profile" in text
    assert "time-out mode limit" in text
    assert browser_rows.EVIL in text
    assert "var(" not in ET.tostring(drawn, "unicode")
    assert not drawn.findall(".//{*}script")

    table = saved(page, "methods", "LaTeX")
    assert table.count(r"\\") == 1 + 6
    assert r"\textless{}img src=x" in table
    assert re.search(r"\ndp & 6 & 6 & .*\\\\\n", table)
    change(page, **{"only.seed": [], "slower_factor": 1.01, "slower_seconds": 0})
    changes = saved(page, "versions", "LaTeX")
    assert r"\textless{}/script\textgreater{}" in changes
    assert r"50 \%\_x" in changes
    assert saved(page, "methods", "Markdown").count("\n") == 2 + 6


@pytest.fixture(scope="module")
def frame(study):
    return study.frame()


@pytest.mark.parametrize("mode", measures.TIMEOUTS)
def test_the_browser_computes_what_python_computes(page, frame, mode):
    lines = list(dict.fromkeys(frame[frame["status"] != "unsupported"]["variant"]))
    counted = times(own_lines(frame), mode)
    for one in page.evaluate("mode => M.measures.summary(M.rows, mode)", mode):
        own = counted[frame["variant"] == one["line"]].dropna()
        assert one["runs"] == len(own)
        assert near(one["sgm"], measures.shifted_geometric_mean(own))

    profile = measures.performance_profile(frame, mode)
    for one in page.evaluate("mode => M.measures.performanceProfile(M.rows, mode)", mode):
        own = [at(one["points"], factor) for factor in profile.index]
        assert own == pytest.approx(list(profile[one["line"]]))

    for base in ("dp", "cart"):  # cart proves nothing
        ratios = measures.pairwise_ratios(frame, base, mode)
        script = "([base, mode]) => M.statistics.pairwiseRatios(M.rows, base, mode)"
        found = page.evaluate(script, [base, mode])
        assert mode == "intersection" or [one["line"] for one in found] == list(ratios.index)
        for one in found:
            own = ratios.loc[one["line"]]
            for name in ("instances", "problems", "faster", "slower"):
                assert one[name] == own[name]
            assert near(one["ratio"], own["ratio"])
            assert near(one["p"], own["p"], 1e-6)
            # Other random numbers draw the problems, so ends of intervals are near each other only.
            assert near(one["low"], own["low"], 0.1)
            assert near(one["high"], own["high"], 0.1)

    spread = measures.variability(frame, mode)
    found = page.evaluate("mode => M.statistics.variability(M.rows, mode)", mode)
    assert len(found) == len(spread)
    for one in found:
        own = spread.loc[(one["name"], one["line"])]
        assert all(near(one[name], own[name]) for name in spread)

    ranks = page.evaluate("mode => M.statistics.criticalDifference(M.rows, mode)", mode)
    if ranks["ranks"] is not None:
        own = measures.critical_difference(frame, mode)
        assert dict(zip(ranks["lines"], ranks["ranks"])) == pytest.approx(own.ranks.to_dict())
        assert near(ranks["difference"], own.difference, 1e-6)
        assert near(ranks["p"], own.p, 1e-6)
        assert ranks["sets"] == own.data_sets
        assert len(ranks["groups"]) == len(own.groups)
    assert mode != "limit" or len(lines) == len(ranks["ranks"])


def test_integrals_and_times_to_targets_are_those_of_python(page, frame, study):
    traces = study.traces()
    expected = measures.integrals(frame, traces)
    for kind in ("primal", "dual", "primal-dual"):
        found = page.evaluate(
            "kind => M.integrals.integrals(M.rows, kind).map(d => [d.row.index, d.value])", kind
        )
        own = expected[f"{kind.replace('-', '_')}_integral"]
        assert dict(found) == pytest.approx(own.dropna().to_dict(), rel=1e-3)
    for target in (0, 0.05):
        curves = measures.target_distribution(frame, traces, target)
        for one in page.evaluate("x => M.integrals.timesToTarget(M.rows, x)", target):
            shares = curves[one["line"]]
            assert one["points"][-1]["share"] == pytest.approx(shares.iloc[-1])
            middle = curves.index[len(curves) // 2] * 1.001
            assert at(one["points"], middle) == pytest.approx(
                shares[curves.index <= middle].iloc[-1]
            )
    best = measures.virtual_best(frame)
    chosen = page.evaluate("M.measures.virtualBest(M.rows, 'limit').chosen.map(c => c.row.index)")
    assert sorted(chosen) == sorted(best.index)


def test_another_store_shows_what_became_slower_and_raises_alarms(page):
    show(page, "versions")
    alarm = page.locator("#versions [role=alert]")
    assert "2 pairs of runs contradict" in alarm.inner_text()
    rows = page.locator("#versions tbody tr")
    assert rows.nth(0).locator("th").inner_text() == "alarm"
    change(page, whole=False, change="slower")
    slower = rows.count()
    assert slower > 0
    assert set(rows.locator("td:nth-child(3)").all_inner_texts()) == {"flow-oct@highs"}
    page.locator('[data-state="slower_seconds"]').fill("5")
    page.locator('[data-state="slower_seconds"]').press("Enter")
    assert rows.count() < slower
    change(page, whole=False, slower_seconds=0, slower_factor=10)
    assert rows.count() == 0
    change(page, whole=False, **{"only.method": ["cart"]})
    assert "2 of them hidden by the filters" in alarm.inner_text()


def test_values_that_solvers_do_not_tell_apart_are_no_alarm(page):
    """Values that are no rationals differ by the tolerances of those who proved them."""
    assert page.evaluate("M.measures.ROUNDING") == SOLVER_SLACK
    changed = """([exact, value, bound]) => {
        const old = { ...M.rows[0], status: "optimal", objective: 500, bound: 500, is_exact: exact };
        const now = { ...old, objective: value, bound };
        return M.versions.compare([now], [old], { factor: 1e9, least: 1e9 }).pairs[0].kind;
    }"""
    for exact, value, bound, kind in [
        (False, 500.0003, 500.0003, None),
        (False, 500.003, 500.003, "alarm"),
        (False, 500.003, 499.9999, None),  # proven up to a gap that holds the other value
        (True, 500.0003, 500.0003, "alarm"),
        (True, 500.0003, 499.9999, "alarm"),
        (True, 500.0000001, 500, None),
        (True, 501, 501, "alarm"),
    ]:
        found = page.evaluate(changed, [exact, value, bound])
        assert found == kind, (exact, value, bound)


def test_times_of_two_machines_are_never_in_one_figure(files, opened):
    page = opened(files["mixed"])
    change(page)
    for name in TIMED:
        assert "60 runs of other machines" in page.locator(f"#{name}").inner_html()
    assert page.evaluate("M.plots.view().rows.length") == 60
    before = page.locator("#methods tbody").inner_text()
    show(page, "methods")
    change(page, whole=False, timed_on="env-m2")
    page.locator("#methods caption", has_text="machine m2").wait_for()
    # The rows of both machines are the same.
    assert page.locator("#methods tbody").inner_text() == before
    page.close()


def test_a_run_opens_with_its_trace_and_goes_back(page):
    page.evaluate("M.openRun(M.rows[0].id)")
    window = page.locator("dialog[open]")
    window.wait_for()
    assert browser_rows.EVIL_NAME in window.inner_text()
    assert "It crashed before: killed by the signal 9" in window.inner_text()
    assert window.locator("g.series path").count() == 2
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('dialog[open]')")


def test_proofs_that_contradict_each_other_are_seen_without_a_reference(files, opened):
    """One method proves another value of one problem."""
    script = "[...M.known.values()].filter(one => one.evidence === 'contradicted').map(one => one.problem.name)"
    assert opened(files["wrong"]).evaluate(script) == ["uci/data1/depth=3"]


def test_names_and_links_that_hold_markup_or_scripts_do_nothing(evil_file, opened, tmp_path):
    file = write_report(evil_file, tmp_path / "evil.html")
    made_up = '#only.method=~["<img src=x onerror=window.ran=3>"]&open=run:__proto__'
    made_up += (
        '&columns=~["<b>"]&sort=__proto__&mode=constructor&scales=~[1]&sort.methods=__proto__'
    )
    page = opened(file, made_up)
    page.evaluate("location.hash = ''")
    until(page, "!M.state.fragment()")
    opens = [f"M.openRun({run!r})" for run in page.evaluate("M.rows.map(row => row.id)")]
    opens += [f"M.openProblem({key!r})" for key in page.evaluate("Object.keys(M.problems)")]
    for call in opens:
        page.evaluate(call)
        page.locator("dialog[open] article").wait_for()
        assert page.locator("dialog img, dialog script, main img, main script").count() == 0
        page.keyboard.press("Escape")
        until(page, "!M.state.get('open')")
    assert page.evaluate("window.ran") is None
    page.close()


def test_a_phone_without_a_network_shows_everything_within_its_width(files, opened):
    phone = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark", "offline": True}
    page = opened(files["one"], **phone)
    change(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def line():
        colour = page.locator("#solved .legend line").first.evaluate(
            "node => getComputedStyle(node).stroke"
        )
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    dark = line()
    page.emulate_media(media="print")
    printed = line()
    page.emulate_media(media="screen")
    page.locator("#theme").click()
    assert dark > line() == printed  # lines on dark paper are lighter
    page.close()


def test_all_figures_are_printed(page):
    assert page.pdf().startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.locator("#solved .switches").is_hidden()
    assert page.locator("#ranks svg").is_visible()
    page.emulate_media(media="screen")
    for name in OF_RUNS:
        assert page.locator(f"#{name} svg, #{name} table, #{name} li").count() > 0
