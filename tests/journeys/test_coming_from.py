"""Both sides of every page of docs/coming_from: ours always, theirs where they are installed."""

import ast

import journey_pages
import pytest

#: Page → what their call imports.
PEERS = {
    "corels": "corels",
    "dl85": "pydl85",
    "gosdt": "gosdt",
    "odtlearn": "odtlearn",
    "osrt": "osrt",
    "policytree": None,
    "pyepo": None,
    "pystreed": "pystreed",
    "pystreed_regression": "pystreed",
    "rpart": None,
    "scikit_learn": "sklearn",
    "scikit_survival": "sksurv",
    "sklearn_regression": "sklearn",
    "spotree": None,
}


def blocks(page):
    """(heading, Python block) in the order of the page."""
    found = journey_pages.sections(f"docs/coming_from/{page}.md")
    return [
        (heading, code)
        for heading, text in found.items()
        for language, code in journey_pages.BLOCK.findall(text)
        if language == "python"
    ]


def compares_both(code, theirs):
    """Whether a block of ours reads a name that their block made."""
    made = {n.id for n in names(theirs) if isinstance(n.ctx, ast.Store)}
    return bool(made & {n.id for n in names(code)})


def names(code):
    """The names that a block makes or reads."""
    return [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]


def test_every_page_has_a_line_in_the_index_and_here():
    pages = {p.stem for p in (journey_pages.ROOT / "docs/coming_from").glob("*.md")} - {"index"}
    index = (journey_pages.ROOT / "docs/coming_from/index.md").read_text()
    assert pages == set(PEERS)
    assert all(f"({page}.md)" in index for page in pages)


@pytest.mark.parametrize("page", [page for page in PEERS if page != "scikit_learn"])
def test_our_call_gives_what_the_page_says(page, tmp_path, monkeypatch):
    """The assertions stand on the page."""
    monkeypatch.chdir(tmp_path)
    theirs = "".join(code for heading, code in blocks(page) if heading == "Their call")
    done = journey_pages.Done()
    for heading, code in blocks(page):
        if heading != "Their call" and not compares_both(code, theirs):
            journey_pages.python(code, done)
    assert done.printed


@pytest.mark.parametrize("page", [page for page, module in PEERS.items() if module])
def test_both_calls_give_the_same_value(page, tmp_path, monkeypatch):
    pytest.importorskip(PEERS[page], reason=f"{PEERS[page]} is not installed")
    monkeypatch.chdir(tmp_path)
    done, theirs = journey_pages.Done(), ""
    for heading, code in blocks(page):
        theirs += code if heading == "Their call" else ""
        journey_pages.python(code, done)
    assert any(h != "Their call" and compares_both(c, theirs) for h, c in blocks(page))
