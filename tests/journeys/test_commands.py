"""Every `milp-trees` line in a block of a page runs, in a folder with the example tables.

What needs something that is not there is listed with the reason. Lines that other tests run are
left to them: the README and the tutorial (`test_pages.py`) and the four roles.
"""

import re

import journey_pages
import pytest

#: What occurs in a line → why the line is not run here.
NOT_HERE = {
    r"compas_train|adult-binarized|german-credit|train_rf_dt": "needs a public data set (docs/start/data.md)",
    r"--executor|--address|/shared/|tcp://": "needs a cluster",
    r"\bstudy |benchmarks/|\.db\b|\.sqlite\b": "a study of minutes, or its store; other tests run small ones",
    r"\blibrary |\bdemo\b|warm-up": "takes minutes; tests of its own",
    r"moved/": "stands for another folder",
    r" spo ": "takes a minute; small twins run in the tests of the command",
    r"unimodular (flow-oct|ip3 --data)": "takes as long as its time limit",
    r"sales": "a folder of one's own; tests/unit/data/test_grouped.py makes some",
}
ELSEWHERE = {"start", "coming_from", "benchmarks", "generated"}
PAGES = [
    page
    for page in sorted((journey_pages.ROOT / "docs").rglob("*.md"))
    if not ELSEWHERE & set(page.relative_to(journey_pages.ROOT / "docs").parts)
]


def commands(page):
    """The lines of the page's shell blocks, without those that need what is not there."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    blocks = [block for language, block in fences if language in ("", "bash")]
    lines = [line for block in blocks for line in block.splitlines()]
    wanted = [line for line in lines if line.startswith("milp-trees ")]
    return [line for line in wanted if not any(re.search(why, line) for why in NOT_HERE)]


def once():
    """(page, its lines that no page before it has)."""
    seen: set[str] = set()
    for page in PAGES:
        lines = [line for line in commands(page) if line.partition(" #")[0].rstrip() not in seen]
        seen |= {line.partition(" #")[0].rstrip() for line in lines}
        if lines:
            yield pytest.param(lines, id=page.stem)


@pytest.mark.parametrize("lines", list(once()))
def test_every_command_of_a_page_runs(lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = journey_pages.Done()
    journey_pages.command("milp-trees example --all", done)
    journey_pages.command("milp-trees solve people.csv --depth 3 --out result.json", done)
    for line in lines:
        journey_pages.command(line, done)


def test_most_commands_are_run():
    """The list of reasons does not swallow the pages."""
    assert sum(len(commands(page)) for page in PAGES) >= 30
