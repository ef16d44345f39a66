"""The subjects are all there is: a new estimator, method of one, or form of a table is noticed."""

import inspect

from known_faults import KNOWN
from meta_asked import ASKED
from meta_checks import tried
from meta_estimators import NO_SUBJECT, SUBJECTS, asked_methods, estimator_classes
from meta_fitted import FITTED

#: Parameters of methods that say how an answer is given, and are no roles of rows.
SETTINGS = {"unpruned", "level", "options", "given"}


def test_every_estimator_is_a_subject():
    tried_ones = {type(subject.make()).__name__ for subject in SUBJECTS}
    assert tried_ones | set(NO_SUBJECT) == set(estimator_classes())
    assert not tried_ones & set(NO_SUBJECT)


def test_every_argument_of_a_fit_or_question_is_a_role_of_a_subject():
    """What belongs to a row must be changed with the rows."""
    for name, cls in estimator_classes().items():
        roles = {
            role
            for subject in SUBJECTS
            if type(subject.make()).__name__ == name
            for role in subject.roles
        }
        asked = {p for parameters in asked_methods(cls).values() for p in parameters}
        fit = set(list(inspect.signature(cls.fit).parameters)[2:])
        validation = {p for p in fit if p.endswith("_val")}
        validation |= {p for p in asked if p == "sample_weight" and p not in fit}  # of `score`
        if name not in NO_SUBJECT and name != "OptimalTreeCV":  # it passes arguments on
            assert (asked | fit) - validation - SETTINGS <= roles | LEFT_OUT.get(name, set()), name


#: Roles that another subject has: the same code reads them there.
LEFT_OUT = {
    "OptimalTreeClassifierCV": {"sample_weight", "groups"},
    "OptimalRuleListClassifier": {"groups"},
    "OptimalPolicyTree": {"groups"},
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
