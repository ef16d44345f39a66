import pytest
from library_cases import tiny_entries

from milp_trees.exports.library.build import build
from milp_trees.exports.library.making import Effort


@pytest.fixture(scope="package")
def tiny_library(tmp_path_factory):
    """A library of four instances, and its registry; not to be changed."""
    folder = tmp_path_factory.mktemp("library")
    about = {"title": "tiny", "version": "1"}
    return folder, build(tiny_entries(), folder, about, Effort(5, 5))
