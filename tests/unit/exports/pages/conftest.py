"""Studies that pages are made of."""

import shutil

import pytest
from browser_tools import Opened
from page_cases import evil_study

import milp_trees as mt


@pytest.fixture(scope="session")
def plain_study(tmp_path_factory):
    """The file of a study of two problems, three methods and two seeds."""
    path = tmp_path_factory.mktemp("pages") / "plain.db"
    problems = [
        mt.Problem(
            mt.load(f"planted:rows=50,tests=4,depth=2,noise=0.1,seed={seed}"),
            mt.Accuracy(),
            mt.Trees(2),
        )
        for seed in (1, 2)
    ]
    mt.compare(problems, ["dp", "cart", "state-flow@highs"], seeds=(0, 1), store=path).store.close()
    return path


@pytest.fixture(scope="session")
def evil_file(tmp_path_factory):
    """The file of a study whose names try to become markup."""
    path = tmp_path_factory.mktemp("pages") / "evil.db"
    evil_study(path)
    return path


@pytest.fixture
def study_copy(plain_study, tmp_path):
    """A copy of the plain study, to be changed."""
    return shutil.copy(plain_study, tmp_path / "copy.db")


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
    if path is None:  # it may have been installed while other tests ran
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def opened(browser):
    made = Opened(browser)
    yield made
    for context in made.contexts:
        context.close()


@pytest.fixture
def nothing_wrong(opened):
    """After a test: no console message, no error, no request, and no text of a row ran."""
    opened.wrong.clear()
    yield
    assert opened.wrong == []
    for context in opened.contexts:
        for page in context.pages:
            assert page.evaluate("window.ran") is None
