"""The conformance checks of milp-trees on the plug-ins of this package: python check.py"""

import milp_trees as mt
from milp_trees.testing import (
    check_formulation,
    check_method,
    check_solver,
    check_solver_pair,
    check_task,
    default_problems,
    problem,
)


def stumps_and_leaves():
    """The problems of the conformance suite on trees with at most one split."""
    for name, requested in default_problems().items():
        if requested.space.depth <= 1:
            yield name, requested


def main():
    small = dict(stumps_and_leaves())
    reports = [
        check_formulation(mt.registry.formulation("stumps"), small),
        check_method(mt.registry.method("one-split"), small),
        check_solver("scipy-milp"),
        check_solver_pair("stumps", "scipy-milp", {"capacity": problem("capacity_from_below")}),
        check_solver_pair("state-flow", "scipy-milp"),
        check_task(mt.registry.task("misses")(price=5)),
        check_task(mt.registry.task("misses")),
        check_task(mt.registry.task("exponential")()),
        check_task(mt.registry.task("exponential")(leaf_penalty="1/20")),
    ]
    for report in reports:
        assert report.passed, report
        print(f"{len(report.passed)} checks passed, {len(report.skipped)} skipped")

    # What the classes declare is all that it takes to be asked.
    requested = mt.Problem(mt.load("planted:rows=40,tests=4,depth=1"), mt.Accuracy(), mt.Trees(1))
    compared = mt.compare(requested, ["stumps@scipy-milp"]).reference
    assert compared.method == "one-split", compared
    derived = mt.verify(mt.solve(requested, "stumps@scipy-milp").to_json())
    assert derived.derived_by == "one-split", derived
    print(f"{compared.method} judges and derives")


if __name__ == "__main__":
    main()
