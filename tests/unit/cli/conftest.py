"""Fixtures of several files here."""

import pytest


@pytest.fixture
def table(tmp_path):
    """A CSV file with original names: the label is (age <= 35 and smoker)."""
    rows = [
        (age, smoker, town)
        for age in range(20, 60, 4)
        for smoker in ("yes", "no")
        for town in ("a", "b", "c")
    ]
    lines = [
        f"{age},{smoker},{town},{'ill' if age <= 35 and smoker == 'yes' else 'well'}"
        for age, smoker, town in rows
    ]
    path = tmp_path / "people.csv"
    path.write_text("age,smoker,town,health\n" + "\n".join(lines) + "\n")
    return path
