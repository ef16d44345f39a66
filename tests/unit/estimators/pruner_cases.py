"""Data and forests for the tests of the pruner."""

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    RandomForestClassifier,
)

CANCER = load_breast_cancer(as_frame=True)


DIABETES = load_diabetes(as_frame=True)


FOREST = RandomForestClassifier(6, max_depth=4, random_state=0)
