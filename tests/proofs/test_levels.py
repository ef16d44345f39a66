"""Claims about every number of levels and leaves: what is true for some is no proof for one more."""

import inspect
import textwrap
from functools import cache

import pytest
from checker_files import DEEP, made, parity

from milp_trees.verification import check_proof
from milp_trees.verification.check_proof import Wrong, check
from milp_trees.verification.reference_checker import check as check_slowly
from milp_trees.verification.reference_checker.reading import Refused


def accepted(checker, text):
    try:
        checker(text)
    except (Wrong, Refused):
        return False
    return True


def texts():
    """The parity of two to five features, and claims of all depths."""
    for files in [*map(parity, (2, 3, 4, 5)), *(made("deep", seed) for seed in DEEP)]:
        yield from files


@cache
def without_faults():
    """What both checkers accept; they say the same."""
    found = []
    for text in texts():
        fast, slow = (accepted(c, text) for c in (check, check_slowly.check_slowly))
        assert fast == slow, text
        found.append(fast)
    return found


@pytest.mark.parametrize("F", [2, 3, 4, 5])
def test_parity_needs_a_level_for_each_feature(F):
    true, *false = parity(F)
    assert check(true).bound == check_slowly.check_slowly(true)[0] == 2 ** (F - 1)
    for checker in (check, check_slowly.check_slowly):
        assert not any(accepted(checker, text) for text in false)


def test_both_checkers_say_the_same_of_claims_of_all_depths():
    """A claim that is too high for a level or a leaf more is refused; files without one are true."""
    assert len(without_faults()) > 80
    for seed in DEEP:
        *false, true = made("deep", seed)
        assert not any(accepted(check, text) for text in false)
        assert accepted(check, true)


def planted(patch, cls, name, old, new):
    """A method with one expression exchanged."""
    source = textwrap.dedent(inspect.getsource(getattr(cls, name)))
    assert source.count(old) == 1, f"{cls.__name__}.{name} no longer says {old}"
    made_here = {}
    exec(source.replace(old, new), vars(inspect.getmodule(cls)), made_here)
    patch.setattr(cls, name, made_here[name])


#: Faults of both checkers that act from some number of levels or leaves on: method, what it says, and
#: what it says with the fault.
FAULTS = [
    ("fast", "_claim", "if d >= levels and", "if d >= levels - (levels > 3) and"),
    ("fast", "_claim", "if d >= depth and m >= leaves]", "if d >= depth - (depth > 3) and m >= leaves]"),
    ("fast", "_claim", "if d >= depth and m >= leaves]", "if d >= depth and m >= leaves - (leaves > 3)]"),
    ("fast", "_children", "if d >= depth - 1:", "if d >= depth - 1 - (depth > 3):"),
    ("slow", "derive", "if T == S and d >= depth and", "if T == S and d >= depth - (depth > 3) and"),
    ("slow", "child", "d >= min(depth, len(C)) - 1", "d >= min(depth, len(C), 4) - 1"),
]  # fmt: skip


@pytest.mark.parametrize("which, name, old, new", FAULTS, ids=lambda x: x if "_" in x else None)
def test_a_rule_that_is_too_bold_for_many_levels_is_found(monkeypatch, which, name, old, new):
    """The checker with the fault no longer says what the other one says."""
    before = without_faults()
    cls = check_proof.Instance if which == "fast" else check_slowly.Rules
    planted(monkeypatch, cls, name, old, new)
    checker = check if which == "fast" else check_slowly.check_slowly
    found = zip(texts(), before, strict=True)
    assert any(accepted(checker, text) != expected for text, expected in found)
