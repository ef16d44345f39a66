"""Every fitted tree and rule list in every other format, read back and asked about its own rows.

The table that it was fitted to is given in every type of columns; the exported model is asked about
plain rows, in another order and with its columns in another order.
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from export_runners import RUNNERS
from known_faults import KNOWN, reference
from meta_asked import another_order
from meta_checks import SEEDS, THOROUGH, rows_of
from meta_dtypes import TYPES, in_type
from meta_estimators import SUBJECTS, difference
from sklearn.pipeline import Pipeline

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.mip.registry import registry


def sklearn(model, frame, folder):
    """The converted tree, with the columns of the user."""
    converted = model.to_sklearn(pipeline=True)
    assert isinstance(converted, Pipeline)
    return converted.predict(frame[list(model.feature_names_in_)]).tolist()


def saved(model, frame, folder):
    """The estimator in its file."""
    path = folder / "model.json"
    model.save(path)
    other = type(getattr(model, "estimator_", model)).load(path)
    return labels(other, frame[list(model.feature_names_in_)])


#: What is run of the exported result, and what is run of the estimator.
OF_RESULT = RUNNERS
OF_ESTIMATOR = {"to_sklearn": sklearn, "save": saved}
EXPORTED = [
    s for s in SUBJECTS if s.name.split(",")[0] not in ("binarizer", "budget forest", "pruner")
]
EXPORTED = [s for s in EXPORTED if s.name != "decisions, forest"]


def labels(model, frame):
    """The label of the leaf of every row, as the estimator says it."""
    if hasattr(model, "decide"):
        return [model.tree_.actions[a] for a in model._chosen(frame)]
    return model.predict(frame).tolist()


def test_every_format_that_predicts_is_run():
    """A new format needs a runner in tests/export_runners.py."""
    forms = registry.classes("exports")
    predicting = {name for name, form in forms.items() if not (form.drawing or form.of_result)}
    run = {"sql" if name in ("sqlite", "duckdb") else name for name in RUNNERS}
    assert run == predicting


def differs(subject, form, kind, folder):
    """How an exported model differs from the estimator, on a table whose columns have a type."""
    for seed in SEEDS:
        for name in (
            ("gaps", "words", "numbers") if THOROUGH else ("gaps" if subject.gaps else "words",)
        ):
            if name == "gaps" and not subject.gaps:
                continue
            rows = rows_of(name, seed)
            typed = in_type(rows.X, kind)
            if typed is None:
                continue
            model = subject.fitted(rows.with_(typed))
            expected = np.array(labels(model, typed), dtype=object)
            index = np.concatenate([np.arange(rows.n), another_order(rows)])
            frame = rows.X.iloc[index].reset_index(drop=True)[list(rows.X)[::-1]]
            try:
                found = _run(form, model, frame, Path(tempfile.mkdtemp(dir=folder)))
            except MilpTreesError as refusal:
                return f"{name}, seed {seed}: refused: {refusal}"
            if found is None:
                continue
            why = difference(expected[index], np.array(found, dtype=object))
            if why:
                return f"{name}, seed {seed}: {why}"
    return None


def _run(form, model, frame, folder):
    if form == "onnx" and not model.result_.predictor.splits:
        return None  # its graph finds the number of rows from the columns
    if form in OF_RESULT:
        return OF_RESULT[form](model.result_.predictor, frame, folder)
    if form == "to_sklearn" and not hasattr(model, "to_sklearn"):
        return None
    return OF_ESTIMATOR[form](model, frame, folder)


def types_of(subject, form):
    """The types that are tried: without the switch one for some subjects."""
    if THOROUGH:
        return TYPES
    forms = [*OF_RESULT, *OF_ESTIMATOR]
    number = EXPORTED.index(subject) + forms.index(form)
    rare = 19 if form == "c" else 5  # C is compiled
    return [TYPES[7 * number % len(TYPES)]] if number % rare == 0 else []


@pytest.mark.parametrize("form", [*OF_RESULT, *OF_ESTIMATOR])
def test_an_exported_model_answers_as_the_estimator(form, tmp_path):
    for subject in EXPORTED:
        # A fit that is known to be wrong is not exported.
        wrong = [k for k in TYPES if ("fitted", subject.name, f"columns of {k}") in KNOWN]
        types, found = [k for k in types_of(subject, form) if k not in wrong], {}
        for kind in types:
            why = differs(subject, form, kind, tmp_path)
            if why:
                found[f"columns of {kind}"] = why
        reference(
            f"exported to {form}", subject.name, [f"columns of {kind}" for kind in types], found
        )


def test_a_pruned_ensemble_is_read_back():
    for subject in SUBJECTS:
        if subject.name.startswith("pruner"):
            rows = rows_of("numbers", 0)
            model = subject.fitted(rows)
            other = mt.read_ensemble(model.best_estimator_)
            message = other.predict(rows.X.to_numpy(dtype=float))
            assert (np.asarray(message) == model.predict(rows.X)).all()
