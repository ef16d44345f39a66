"""The subjects are all there is: a new estimator, method of one, or form of a table is noticed."""

import inspect

import numpy as np
import pytest
from known_faults import KNOWN, reference
from meta_asked import ASKED
from meta_checks import rows_of, tried
from meta_estimators import (
    SUBJECTS,
    Subject,
    answers,
    asked_methods,
    difference,
    estimator_classes,
)
from meta_fitted import FITTED

import milp_trees as mt

#: Parameters of methods that say how an answer is given, and are no roles of rows.
SETTINGS = {"unpruned", "level", "options", "given", "return_array"}


def test_every_estimator_is_a_subject():
    tried_ones = {type(subject.make()).__name__ for subject in SUBJECTS}
    assert tried_ones == set(estimator_classes())


def test_every_argument_of_a_fit_or_question_is_a_role_of_a_subject():
    """What belongs to a row must be changed with the rows."""
    for name, cls in estimator_classes().items():
        roles = {
            role
            for subject in SUBJECTS
            if type(subject.make()).__name__ == name
            for role in subject.roles
        }
        requested = {p for parameters in asked_methods(cls).values() for p in parameters}
        fit = set(list(inspect.signature(cls.fit).parameters)[2:])
        validation = {p for p in fit if p.endswith("_val")}
        validation |= {p for p in requested if p == "sample_weight" and p not in fit}  # of `score`
        if name != "OptimalTreeCV":  # it passes arguments on
            assert (requested | fit) - validation - SETTINGS <= roles | LEFT_OUT.get(name, set()), (
                name
            )


#: Roles that another subject has: the same code reads them there.
LEFT_OUT = {
    "OptimalTreeClassifierCV": {"sample_weight", "groups"},
    "OptimalRuleListClassifier": {"groups"},
    "OptimalPolicyTree": {"groups"},
    "OptimalTreeRegressorCV": {"sample_weight"},
    "SPOForest": {"sample_weight"},
}


def test_every_relation_is_tried_with_some_subject():
    for relations in (ASKED, FITTED):
        names = {r.name for subject in SUBJECTS for r in tried(subject, relations)}
        assert names == {relation.name for relation in relations}


def test_names_of_known_faults_are_those_of_relations():
    relations = {"asked": ASKED, "fitted": FITTED}
    subjects = {subject.name for subject in SUBJECTS}
    for what, subject, relation in KNOWN:
        if what in relations:
            assert subject in subjects
            assert relation in {r.name for r in relations[what]}


def test_an_estimator_that_depends_on_the_order_of_rows_is_noticed():
    """The relations, and the comparison of answers, on an estimator that is wrong."""

    class InOrder(mt.OptimalTreeClassifier):
        def predict(self, X):
            return np.arange(len(X)) % 5

    subject, rows = Subject("wrong", InOrder, {"y": "labels"}), rows_of("words", 0)
    model = subject.fitted(rows)
    before = answers(subject, model, rows)
    for relation in ("rows in another order", "the table in two parts", "every row twice"):
        change = next(r.change for r in ASKED if r.name == relation)
        found = [
            difference(before["predict"], answers(subject, other, more)["predict"], index, rows.n)
            for other, more, index in change(subject, model, rows)
        ]
        assert any(found), relation


def test_a_new_fault_and_one_that_is_gone_are_errors(monkeypatch):
    what, subject, relation = "asked", "planted", "rows in another order"
    monkeypatch.setitem(KNOWN, (what, subject, relation), "planted")
    reference(what, subject, [relation], {relation: "differs"})
    reference(what, subject, [], {})
    with pytest.raises(AssertionError, match="take them from the list"):
        reference(what, subject, [relation], {})
    with pytest.raises(AssertionError, match="another: differs"):
        reference(what, subject, [relation, "another"], {relation: "", "another": "differs"})
