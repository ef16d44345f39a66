"""Every estimator: what is asked of it, and what it is fitted to, in another form.

`MILP_TREES_METAMORPHIC=thorough` tries every relation with every estimator on many tables;
without it each pair is tried on one table, and some types of columns and some fits are left out.
"""

import pytest
from known_faults import reference
from meta_asked import ASKED
from meta_checks import asked_differs, fitted_differs, tried
from meta_estimators import SUBJECTS
from meta_fitted import FITTED


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_fitted_estimator_answers_alike(subject):
    relations = tried(subject, ASKED)
    found = {r.name: why for r in relations if (why := asked_differs(subject, r))}
    reference("asked", subject.name, [r.name for r in relations], found)


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_fit_to_changed_rows_is_worth_the_same(subject):
    relations = tried(subject, FITTED)
    found = {r.name: why for r in relations if (why := fitted_differs(subject, r))}
    reference("fitted", subject.name, [r.name for r in relations], found)
