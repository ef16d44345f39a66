"""Tables as tests: one test runs all rows of a table and reports every row that fails."""

import functools
import inspect
import itertools
import reprlib

import pytest


def each_row(names, rows):
    """Run a test with every row of a table, as one test; two such decorators run every pair of rows.

    Use it where a row is a line and its run takes milliseconds: pytest collects and reports one
    item, not hundreds. `pytest.mark.parametrize` remains for what is chosen by its name (`-k dp`),
    takes long, or needs other fixtures of its own than `tmp_path` and `monkeypatch`.

    Parameters
    ----------
    names : str or sequence of str
        As for `pytest.mark.parametrize`.
    rows : iterable, or callable () → iterable
        A callable makes the rows when the test runs, which keeps the collection quick.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]

    def of_table(test):
        tables = [(columns, rows), *getattr(test, "tables", ())]
        one = getattr(test, "one_row", test)
        taken = {name for some, _ in tables for name in some}
        fixtures = [p for p in inspect.signature(one).parameters.values() if p.name not in taken]

        @functools.wraps(one)
        def run(subtests, **given):
            made = [list(_read(*table)) for table in tables]
            assert all(made), "a table without rows tests nothing"
            for k, parts in enumerate(itertools.product(*made)):
                row = {name: value for part in parts for name, value in part.items()}
                label = ", ".join(f"{name}={reprlib.repr(value)}" for name, value in row.items())
                if "tmp_path" in given:
                    row["tmp_path"] = given["tmp_path"] / str(k)
                    row["tmp_path"].mkdir()
                try:
                    with pytest.MonkeyPatch.context() as patch:
                        if "monkeypatch" in given:
                            row["monkeypatch"] = patch
                        one(**{**given, **row})
                except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
                    with subtests.test(label):
                        raise error

        requested = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([requested, *fixtures])
        run.tables, run.one_row = tables, one
        return run

    return of_table


def _read(columns, rows):
    """Yield each row by the names of its columns."""
    for row in rows() if callable(rows) else rows:
        assert not hasattr(row, "marks"), "rows with marks are for pytest.mark.parametrize"
        yield dict(zip(columns, row if len(columns) > 1 else (row,), strict=True))
