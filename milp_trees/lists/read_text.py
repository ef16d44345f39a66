"""Rule lists read from text, in the form in which `RuleList.to_text` writes them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from milp_trees.common.errors import DataError
from milp_trees.data.antecedent import Antecedent, Literal

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: The beginning of a line: of a rule, with its condition and action, or of the default rule.
RULE = re.compile(r"(if|else\s+if|elif)\s+(.*\S)", re.IGNORECASE)
DEFAULT = re.compile(r"else(?:\s*:|\s)\s*(.*\S)", re.IGNORECASE)
#: The rows and errors that stand behind an action in a printed list.
ROWS = re.compile(r" \([\d ]+ rows?(, [\d ]+ errors?)?\)$")
#: What stands between condition and action.
THEN = re.compile(r"\s*:\s*|\s+then\s+", re.IGNORECASE)
#: Most names that a sentence proposes.
CLOSE = 3


class Words(NamedTuple):
    """The names that a text may use.

    Parameters
    ----------
    antecedents : mapping of str to tuple of Antecedent
        Whole conditions.
    literals : mapping of str to tuple of Antecedent
        Parts of a condition, of one literal each, which `and` joins.
    actions : mapping of str to int
        Actions by name.
    """

    antecedents: Mapping[str, tuple[Antecedent, ...]]
    literals: Mapping[str, tuple[Antecedent, ...]]
    actions: Mapping[str, int]


def read_rules(
    text: str,
    dataset: Dataset,
    actions: Sequence[Any] | None,
    antecedents: Sequence[Antecedent] = (),
) -> tuple[list[tuple[Antecedent, int]], int, tuple[Any, ...]]:
    """The rules of a text with their actions, the action of the default rule, and all actions."""
    own = dataset.classes if actions is None else tuple(actions)
    if own is None:
        raise DataError("The dataset has no classes; give the names of the actions.")
    literals = [Antecedent((Literal(t, v),)) for v in (True, False) for t in dataset.features]
    names = {_plain(str(a)): k for k, a in enumerate(own)}
    words = Words(_by_name(antecedents, dataset), _by_name(literals, dataset), names)
    plain = [_without_rows(_plain(line), names) for line in text.splitlines()]
    lines = [(i, line) for i, line in enumerate(plain, 1) if line]
    if not lines:
        raise DataError(
            "The text holds no rule list; write a line 'if FEATURE: ACTION' per rule, 'else if' from the second on, and a last line 'else: ACTION'."
        )
    rules = [_rule(i, line, k, words) for k, (i, line) in enumerate(lines[:-1])]
    return rules, _default(*lines[-1], bool(rules), words), tuple(own)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _without_rows(line: str, actions: Mapping[str, int]) -> str:
    """A line without the rows that a printed list shows, unless an action is called like that."""
    named = any(re.search(ROWS, name) and line.endswith(name) for name in actions)
    return line if named else ROWS.sub("", line)


def _by_name(
    antecedents: Iterable[Antecedent], dataset: Dataset
) -> dict[str, tuple[Antecedent, ...]]:
    """Antecedents by name; of those with one name that hold on the same rows, the first."""
    out: dict[str, tuple[Antecedent, ...]] = {}
    for a in antecedents:
        known = out.get(name := _plain(a.name), ())
        if not any((a.evaluate(dataset) == b.evaluate(dataset)).all() for b in known):
            out[name] = (*known, a)
    return out


def _rule(i: int, line: str, k: int, words: Words) -> tuple[Antecedent, int]:
    """Rule number k, from line i."""
    found = RULE.fullmatch(line)
    wanted = "else if" if k else "if"
    if found is None or (found[1].lower() == "if") != (k == 0):
        raise DataError(
            f"Line {i} of the rule list is {line!r}; {'a further' if k else 'the first'} rule begins with '{wanted}', as in '{wanted} FEATURE: ACTION', and the last line is 'else: ACTION'."
        )
    readings = dict.fromkeys(_readings(found[2], words))
    if len(readings) == 1:
        return next(iter(readings))
    if readings:
        raise DataError(
            f"Line {i} of the rule list, {line!r}, can be read in {len(readings)} ways, because names contain ':', 'and' or 'not'; rename a feature or a class."
        )
    raise DataError(f"Line {i} of the rule list, {line!r}, {_what_is_wrong(found[2], words)}")


def _readings(text: str, words: Words) -> Iterator[tuple[Antecedent, int]]:
    """All ways to read a condition and an action; names may contain what separates them."""
    for place in THEN.finditer(text):
        action = words.actions.get(text[place.end() :])
        if action is not None:
            for antecedent in _antecedents(text[: place.start()], words):
                yield antecedent, action


def _antecedents(text: str, words: Words) -> list[Antecedent]:
    if text in words.antecedents:
        return list(words.antecedents[text])
    ends = [x.start() for x in re.finditer("(?= and )", text)] + [len(text)]
    ways: list[list[tuple[Literal, ...]]] = []
    for last, end in enumerate(ends):
        here: list[tuple[Literal, ...]] = []
        for first in range(last + 1):
            begin = ends[first - 1] + len(" and ") if first else 0
            found = words.literals.get(text[begin:end], ())
            before = ways[first - 1] if first else [()]
            here += [(*way, *x.literals) for way in before for x in found]
        ways.append(here)
    return [Antecedent(way) for way in ways[-1]]


def _what_is_wrong(text: str, words: Words) -> str:
    """The end of a sentence on a rule that cannot be read."""
    places = list(THEN.finditer(text))
    if not places:
        return "names no action; write 'FEATURE: ACTION', or 'FEATURE then ACTION'."
    known = [p for p in places if text[p.end() :] in words.actions]
    if not known:
        return _unknown("action", text[places[-1].end() :], words.actions)
    strange = [p for p in text[: known[-1].start()].split(" and ") if p not in words.literals]
    return _unknown("feature", (strange or [text])[0], words.literals)


def _default(i: int, line: str, has_rules: bool, words: Words) -> int:
    """The action of the last line; a list without rules may be the action alone."""
    if not has_rules and line in words.actions:
        return words.actions[line]
    found = DEFAULT.fullmatch(line)
    given = line if found is None else found[1]
    if found is not None and given not in words.actions:
        given = re.sub("^then ", "", given, flags=re.IGNORECASE)
    is_rule = RULE.fullmatch(line) and given not in words.actions
    if is_rule or (has_rules and found is None):
        raise DataError(
            f"The last line of the rule list is {line!r}; it must be the default rule, as in 'else: ACTION'."
        )
    if given not in words.actions:
        raise DataError(
            f"Line {i} of the rule list, {line!r}, {_unknown('action', given, words.actions)}"
        )
    return words.actions[given]


def _unknown(what: str, given: str, names: Mapping[str, Any]) -> str:
    """The end of a sentence on a name that is not known, with the names that are like it."""
    close = difflib.get_close_matches(given, names, n=CLOSE, cutoff=0.5)
    like = [name for name in names if given.lower() in name.lower()][:CLOSE]
    shown = list(dict.fromkeys([*close, *like]))[:CLOSE]
    known = list(names)[:CLOSE]
    hint = (
        f"Did you mean {' or '.join(map(repr, shown))}?"
        if shown
        else f"Known: {', '.join(map(repr, known))}{', …' if len(names) > CLOSE else ''}."
    )
    return f"has the unknown {what} {given!r}. {hint}"
