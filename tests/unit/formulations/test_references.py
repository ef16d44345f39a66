"""A formulation cites the paper that it is from, and one of ours cites none."""

import re
import sys
from pathlib import Path

from row_tests import each_row

from milp_trees.mip.registry import registry

ROOT = Path(__file__).parents[3]
#: Our own, whose title does not say so; the files call them "ours" or name no paper as their source.
OURS = {"state-flow", "state-flow-reduced"}


@each_row("name", registry.classes("formulations"))
def test_the_paper_is_that_of_the_formulation(name):
    """A link that is given is one of the module's `Reference:`; ours lead to our own page."""
    cls = registry.classes("formulations")[name]
    text = sys.modules[cls.__module__].__doc__
    if name in OURS or "(ours)" in cls.title:
        assert (ROOT / cls.reference).is_file()
        return
    assert re.search(r"Reference|References|go\s+back\s+to", text), name
    assert cls.reference.startswith("https://")
    identifier = re.search(r"arxiv\.org/abs/(.+)|doi\.org/(.+)", cls.reference)
    if identifier and identifier[1]:
        assert f"arXiv:{identifier[1]}" in text
