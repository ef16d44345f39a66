"""What a student does: the page that explains optimal trees, from top to bottom."""

import re

import journey_pages

PAGE = "docs/start/understood.md"
SAID = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_every_number_of_the_page_is_what_its_code_prints(tmp_path, monkeypatch):
    """The whole page in one folder; after a block of code stands what it prints."""
    monkeypatch.chdir(tmp_path)
    text = (journey_pages.ROOT / PAGE).read_text(encoding="utf-8")
    shown = dict(SAID.findall(text))
    assert len(shown) == 6
    done = journey_pages.Done()
    for language, code in journey_pages.BLOCK.findall(text):
        done.printed = ""
        if language == "python":
            journey_pages.python(code, done)
            assert done.printed == shown.get(code, done.printed)
        elif language == "bash":
            journey_pages.command(code.strip(), done)
            assert done.printed.startswith("proved: 4 ")
    assert done.names["optimal"].bound == done.names["optimal"].value.number == 9


def test_the_claim_that_the_page_checks_by_hand(tmp_path, monkeypatch):
    """The errors of one split on a, b and c, and of a leaf, are those that the text says."""
    rows = [
        (a, b, a ^ b if k < 3 else 1 - (a ^ b)) for a in (0, 1) for b in (0, 1) for k in range(4)
    ]
    odd = [a ^ b for a, b, _ in rows]

    def errors(sides):
        return sum(
            min(of.count(0), of.count(1))
            for side in set(sides)
            for of in [[y for s, y in zip(sides, odd, strict=True) if s == side]]
        )

    assert [errors([row[f] for row in rows]) for f in range(3)] == [8, 8, 4]
    assert errors([0] * len(rows)) == 8


def test_the_wines_of_the_gallery_are_those_of_the_page():
    """14 errors of the greedy tree and 6 of the optimal one, as the page says."""
    import milp_trees as mt

    problem = mt.Problem(mt.load("wine"), mt.Accuracy(), mt.Trees(max_depth=2))
    greedy, optimal = mt.solve(problem, "cart"), mt.solve(problem)
    assert (greedy.value.number, optimal.value.number, optimal.bound) == (14, 6, 6)
