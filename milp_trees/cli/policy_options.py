"""The options of policies: what was observed, who estimates what was not, and policy files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from milp_trees.cli.help import POLICIES
from milp_trees.cli.space_options import option
from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


@dataclass(kw_only=True)
class PolicyOptions:
    """Options of tasks that choose treatments."""

    treatment: Annotated[
        str | None, option("Column of the observed treatment (policy tasks).", POLICIES)
    ] = None
    outcome: Annotated[str | None, option("Column of the observed outcome.", POLICIES)] = None
    propensity: Annotated[
        str | None, option("Column with the probability of the observed treatment.", POLICIES)
    ] = None
    propensity_model: Annotated[
        str | None,
        option(
            "In the place of that column: a model that estimates it, cross-fitted: logistic, forest, or share (of a treatment among all rows, in a randomised trial).",
            POLICIES,
        ),
    ] = None
    outcome_model: Annotated[
        str | None,
        option(
            "In the place of --values: a model that estimates the outcome of every treatment, cross-fitted: ridge, forest or mean.",
            POLICIES,
        ),
    ] = None
    policy_file: Annotated[
        bool,
        option(
            "The table is a policy file of the STreeD experiments or of odtlearn, whose format says what its columns are.",
            POLICIES,
            "--policy-file",
        ),
    ] = False
    policy_model: Annotated[
        str | None,
        option(
            "With --policy-file and a header: which predicted outcomes, linear or lasso.", POLICIES
        ),
    ] = None

    def policy_rows(self, data: str, given: Mapping[str, Any]) -> Dataset:
        """The rows of a policy file.

        Parameters
        ----------
        data : str
            The file.
        given : mapping
            All options about the table with what was given; besides `propensity` none is allowed.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            Another option was given, or the file is no policy file.
        """
        from milp_trees.data.policy_files import load_policy

        if not self.policy_file:
            raise DataError("--policy-model is for a policy file; give --policy-file too.")
        for name, value in given.items():
            if value and name != "propensity":
                raise DataError(
                    f"--{name.replace('_', '-')} is for other tables: the format of a policy file says what its columns are; leave it out."
                )
        return load_policy(data, propensity=self.propensity, model=self.policy_model)[0]
