"""OMLT's model of an ensemble, from the same arrays as ours.

OMLT reads gradient-boosted trees from an ONNX graph (`GBTBigMFormulation`, after Mišić 2020 and
Mistry et al. 2021), whose thresholds and weights are 32-bit floats. So forests are rounded to these
first (`rounded`), and both sides model the same function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import milp_trees as mt

INSTALL = "OMLT is not installed; install it beside this package: pip install omlt onnx"


def rounded(ensemble: mt.Ensemble) -> mt.Ensemble:
    """The ensemble with thresholds and values that 32 bits hold exactly, compared as doubles."""
    return replace(
        ensemble,
        threshold=ensemble.threshold.astype(np.float32).astype(float),
        value=ensemble.value.astype(np.float32).astype(float),
        single=False,
    )


def graph_of(ensemble: mt.Ensemble, scale: float) -> Any:
    """The ONNX graph of a regression ensemble; every leaf counts `scale` times its value."""
    from onnx import TensorProto, helper

    first = ensemble.roots[ensemble.member]
    here = np.arange(ensemble.n_nodes) - first
    split = ensemble.left >= 0
    leaves = np.flatnonzero(~split)
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=ensemble.member.tolist(),
        nodes_nodeids=here.tolist(),
        nodes_featureids=np.where(split, ensemble.column, 0).tolist(),
        nodes_values=np.where(split, ensemble.threshold, 0.0).tolist(),
        nodes_modes=["BRANCH_LEQ" if s else "LEAF" for s in split],
        nodes_truenodeids=np.where(split, ensemble.left - first, 0).tolist(),
        nodes_falsenodeids=np.where(split, ensemble.right - first, 0).tolist(),
        target_treeids=ensemble.member[leaves].tolist(),
        target_nodeids=here[leaves].tolist(),
        target_ids=[0] * len(leaves),
        target_weights=(scale * ensemble.value[leaves, 0]).tolist(),
    )
    numbers = TensorProto.FLOAT
    graph = helper.make_graph(
        [node],
        "forest",
        [helper.make_tensor_value_info("x", numbers, [None, len(ensemble.columns)])],
        [helper.make_tensor_value_info("y", numbers, [None, 1])],
    )
    return helper.make_model(graph)


def model_of(ensemble: mt.Ensemble, low: float, high: float) -> Any:
    """The Pyomo model that maximises the sum of the trees over a box, by OMLT."""
    import pyomo.environ as pyo

    try:
        from omlt import OmltBlock
        from omlt.gbt import GBTBigMFormulation, GradientBoostedTreeModel
    except ImportError:
        raise SystemExit(INSTALL) from None
    m = pyo.ConcreteModel()
    m.tree = OmltBlock()
    ends = dict.fromkeys(range(len(ensemble.columns)), (low, high))
    definition = GradientBoostedTreeModel(graph_of(ensemble, 1.0), scaled_input_bounds=ends)
    m.tree.build_formulation(GBTBigMFormulation(definition))
    m.best = pyo.Objective(expr=-m.tree.outputs[0])  # matrices state minimisations
    return m
