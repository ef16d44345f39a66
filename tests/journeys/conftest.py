"""`done(number)`: what a section of the page that a test file names has done."""

import journey_pages
import pytest


@pytest.fixture
def done(request, tmp_path, monkeypatch):
    """Do section `number` of the page in the test file's `PAGE`; its plug-ins are forgotten after."""
    yield lambda number: journey_pages.do(request.module.PAGE, number, tmp_path, monkeypatch)
    journey_pages.forget(tmp_path)
