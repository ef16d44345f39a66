"""`Study`: problems × methods × seeds under fixed limits; rows are kept, tabulated and plotted.

A study that was stopped can be resumed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.results.html_tables import rows_html
from milp_trees.results.result import Result, Status
from milp_trees.results.stored import result_from_json
from milp_trees.results.tables import plain_table, reasons, same_in_all
from milp_trees.studies.columns import COLUMNS, flat
from milp_trees.studies.identity import problem_key
from milp_trees.studies.one_run import CompletedRun
from milp_trees.studies.problem_groups import same_problems
from milp_trees.studies.rows import UNREADABLE, DamagedRow, said
from milp_trees.studies.store import Store, StoreError
from milp_trees.studies.stored_runs import is_final, recalled
from milp_trees.studies.verifiers import credit_derivers

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.problems.problem import Problem

#: Seconds between two looks for a run that another process makes.
LOOK = 0.05


class Study:
    """The rows of a comparison.

    Parameters
    ----------
    path : str or Path, optional
        SQLite file to which a row is written as each run ends; without it rows are in memory only.
    read_only : bool, default=False
        Only read an existing file, as `Study.open` does.

    Attributes
    ----------
    rows : list of dict
        One per problem × method × seed: what `Result.to_json()` returns, with `seed`.
    reference : Result or None
        The result with which the rows' `agrees` compares (of the last problem).
    interrupted : bool
        Whether the comparison was stopped before its last row.
    """

    def __init__(self, path: str | Path | None = None, *, read_only: bool = False) -> None:
        self.store = Store(path, read_only)
        self.rows: list[dict[str, Any]] = []
        self.reference: Result | None = None
        self.interrupted = False
        self._problems: dict[str, Problem] = {}

    @classmethod
    def open(cls, path: str | Path) -> Study:
        """The study in a file, also while another process writes it.

        Damaged rows are left out with a warning.

        Raises
        ------
        StoreError
            There is no such file, it is no study, it is damaged, or it is from a newer version.
        """
        if not Path(path).is_file():
            raise StoreError(f"There is no study file {path}.")
        study = cls(path, read_only=True)
        study.rows = list(study.store.rows())
        credit_derivers(study.rows)
        return study

    # -- filling ---------------------------------------------------------------------------------------------

    def recall(self, problem: Problem, key: str, role: str) -> Result | None:
        """The finished run with a key and a role, also if another process is making it now.

        Parameters
        ----------
        problem : Problem
        key : str
            Fingerprint of the run.
        role : str
            "run" for a row of the study; other roles are for runs that help.

        Returns
        -------
        Result or None
            None if there is none, or if it ended in an error or was interrupted. The run is then
            claimed: other processes wait for it until `keep` or `release`.
        """
        while True:
            number = self.store.number(key, role)
            found = self._finished(problem, key, role)
            if found is not None:
                return found
            while self.store.number(key, role) == number:
                if self.store.claim(key, role, number):
                    return None
                time.sleep(LOOK)

    def release(self) -> None:
        """Leave runs that were claimed and not kept to other processes."""
        self.store.release()

    def _finished(self, problem: Problem, key: str, role: str) -> Result | None:
        row = self.store.latest(key, role)
        if row is None or not is_final(row):
            return None
        try:
            found = recalled(row, problem)
        except DamagedRow as why:
            self.store.left_out(f"of {row['method']}", str(why))
            return None
        return replace(found, log=self.store.log(key, role))

    def keep(self, result: Result, key: str, role: str, seed: int) -> None:
        """Store a finished run.

        Parameters
        ----------
        result : Result
        key : str
            Fingerprint of the run.
        role : str
            "run" for a row of the study; other roles are for runs that help.
        seed : int
        """
        self.store.append(
            result.to_json(),
            key=key,
            role=role,
            problem=problem_key(result.problem),
            seed=seed,
            log=result.log,
        )

    def show(self, made: CompletedRun) -> None:
        """Add a run to the study's rows."""
        row = made.row()
        self._problems[row["problem_key"]] = made.result.problem
        self.rows.append(row)
        credit_derivers(one for one in self.rows if one["problem_key"] == row["problem_key"])

    # -- reading ---------------------------------------------------------------------------------------------

    @property
    def results(self) -> list[Result]:
        """The rows as Result objects; a problem from a file is read again from the data's path."""
        return [self._result(row) for row in self.rows]

    def _result(self, row: Mapping[str, Any]) -> Result:
        try:
            return result_from_json(row, self._problem(row))
        except MilpTreesError:
            raise
        except UNREADABLE as error:
            raise StoreError(
                f"A row of {row['method']} in {self.store.path} is damaged: {said(error)}; run the same comparison again."
            ) from error

    def _problem(self, row: Mapping[str, Any]) -> Problem:
        identity = row["problem_key"]
        if identity not in self._problems:
            from milp_trees.results.restore import problem_of

            self._problems[identity] = problem_of(row["problem"])
        return self._problems[identity]

    @property
    def best(self) -> Result | None:
        """The row with the best value; of equal values a proven one, and of those the fastest."""
        found = [
            row
            for row in self.rows
            if row["predictor"] is not None and row["status"] != Status.ERROR.value
        ]
        if not found:
            return None
        sign = 1 if found[0]["sense"] == "min" else -1
        row = min(
            found,
            key=lambda row: (
                sign * row["objective"],
                row["status"] != Status.OPTIMAL.value,
                row["seconds"],
            ),
        )
        return self._result(row)

    def frame(self) -> pd.DataFrame:
        """The rows as a long, tidy DataFrame: a row per run, a column per quantity.

        Returns
        -------
        DataFrame
            The columns of `milp_trees.studies.columns.COLUMNS`, where each has a sentence, and
            scores on test rows in columns `score_NAME`.
        """
        import pandas as pd

        same = same_problems(self.rows)
        rows = [{**flat(row), "problem": same[row["problem_key"]]} for row in self.rows]
        scores = dict.fromkeys(name for row in rows for name in row if name not in COLUMNS)
        return pd.DataFrame(rows, columns=[*COLUMNS, *scores])

    def traces(self) -> pd.DataFrame:
        """The traces of all runs as a long DataFrame, as the measures of integrals take them.

        Returns
        -------
        DataFrame
            A row per point: `run` (the row's number in `frame`), `seconds`, `incumbent` and `bound`
            (NaN if unknown).
        """
        import pandas as pd

        points = [(k, *point) for k, row in enumerate(self.rows) for point in row["trace"]]
        columns = ["run", "seconds", "incumbent", "bound"]
        return pd.DataFrame(points, columns=columns).astype(dict.fromkeys(columns[1:], float))

    def table(self, width: int = 200) -> str:
        """The rows as a text table: sizes, times, bounds, values and agreement.

        What all rows share is above the table; reasons of rows without an answer are below it.
        """
        same = same_in_all(self.rows)
        lines = "".join(f"{line}\n" for line in reasons(self.rows))
        return (f"{same}\n\n" if same else "") + plain_table(self.rows, width) + lines

    def plot(
        self,
        axes: Any = None,
        kind: str = "overview",
        *,
        timeouts: str = "limit",
        base: str | None = None,
        target: float = 0.0,
        environment: str | None = None,
    ) -> Any:
        """Plot the study.

        Parameters
        ----------
        axes : matplotlib axes, optional
            New ones by default; two of them for the overview.
        kind : str, default="overview"
            "overview" (incumbent and bound over time, and the performance profile), "profile",
            "solved" (instances within a time), "target" (time to a value), "ratios" (times against
            those of `base`), "integrals", "ranks" (critical differences over data sets) or
            "variability".
        timeouts : {"limit", "par10", "intersection"}
            How runs that were not solved count; see `milp_trees.studies.measures.TIMEOUTS`.
        base : str, optional
            For "ratios": the entry of the column `variant` that is compared with.
        target : float, default=0
            For "target": relative distance from the best known value.
        environment : str, optional
            Only runs of this environment; needed where there are several, since times of different
            machines are not averaged.

        Returns
        -------
        matplotlib figure

        Raises
        ------
        DataError
            There is no such figure, there are runs of several environments, or the runs are too few.
        """
        from milp_trees.studies.figures.measures import Wanted, draw
        from milp_trees.studies.figures.over_time import plot_study

        frame = self.frame()
        if environment is not None:
            frame = frame[frame["environment"] == environment]
        if kind == "overview":
            return plot_study([self.rows[k] for k in frame.index], frame, axes)
        return draw(kind, Wanted(frame, self.traces(), timeouts, base, target), axes)

    def _repr_html_(self) -> str:
        return rows_html(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        where = "in memory" if self.store.path is None else str(self.store.path)
        return f"<Study of {len(self.rows)} rows, {where}>"
