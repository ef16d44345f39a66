"""Messages speak the language of where the user is: arguments in Python, options in a command."""

import ast
import re
from pathlib import Path

from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError, on_the_command_line, worded

ROOT = Path(__file__).parents[2]

SENTENCES = {
    "raise --time-limit.": "raise time_limit=.",
    "raise --max-nonzeros (max_nonzeros=), lower": "raise max_nonzeros=, lower",
    "needs a limit; give max_depth (--depth).": "needs a limit; give max_depth.",
    "leave it out with --drop 'age group'.": "leave it out with drop='age group'.",
    "say categories='hash' (--categories hash).": "say categories='hash'.",
    "leave it out with --drop shop.": "leave it out with drop='shop'.",
    "--drop names 'zz', which": "drop= names 'zz', which",
    "--text day keeps it as it is": "text='day' keeps it as it is",
    "keep it as text with --text, or leave": "keep it as text with text=, or leave",
    "--decimal . or --decimal ,, or": "decimal='.' or decimal=',', or",
    "say --categories target (their share) or": "say categories='target' (their share) or",
    "with --decimal . or --decimal ,": "with decimal='.' or decimal=','",
    "--dates day-first or --dates month-first": "dates='day-first' or dates='month-first'",
    "(against=, --against)": "(against=)",
    "a cost file (--costs, file=), or": "a cost file (file=), or",
    "Leave out --regression, or": "Leave out regression=True, or",
    "a file that solve wrote with --out or --json": "a file that solve wrote with --out or --json",
    "make one with `milp-trees library build S --out F`": "make one with `milp-trees library build S --out F`",
    "x -- y": "x -- y",
}


@each_row("text", SENTENCES)
def test_options_are_arguments_in_python_and_stay_in_a_command(text):
    assert worded(text) == SENTENCES[text] == str(MilpTreesError(text))
    assert worded(worded(text)) == worded(text)
    with on_the_command_line():
        assert worded(text) == text == str(mt.DataError(text))
    assert worded(text) == SENTENCES[text]


def messages():
    """Every text with an option in a file outside of the command line, without docstrings."""
    for folder in ("milp_trees", "formulations", "solvers"):
        for path in (ROOT / folder).rglob("*.py"):
            if {"cli", "testing"} & set(path.parts) or path.name == "errors.py":
                continue
            tree = ast.parse(path.read_text("utf-8"))
            documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and id(node) not in documents
                    and re.search(r"(^|[ (])--[a-z]{2}.* |\w+ .*--[a-z]{2}", node.value)
                ):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def test_no_message_outside_of_the_command_line_keeps_an_option():
    """But those of which a text says that a command wrote a file with them."""
    for where, text in messages():
        left = set(re.findall(r"--[a-z][a-z-]*", worded(text))) - {"--out", "--json"}
        assert not left or re.search("milp-trees |`--", text), (where, text, left)
