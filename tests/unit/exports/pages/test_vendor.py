"""Libraries that a page holds are those that were published."""

from dataclasses import replace

import pytest

from milp_trees.common.errors import MilpTreesError
from milp_trees.exports.pages.vendor import libraries, licences


def test_libraries_are_unchanged_and_can_stand_in_a_script_element():
    for library in libraries():
        text = library.text()
        assert "</script" not in text
        assert f"v{library.version}" in text[:80]
        assert f"== {library.name} {library.version} ==" in licences()


def test_a_changed_file_is_refused():
    with pytest.raises(MilpTreesError, match="is not d3"):
        replace(libraries()[0], sha256="0" * 64).text()
