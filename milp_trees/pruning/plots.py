"""Pictures of a path of prunings: error against cost, and which features are needed."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pandas as pd

from milp_trees.models.ensemble import Ensemble

OBJECTIVE, VOTE, CHOSEN = "#7a7a7a", "#1f5a99", "#c8401f"


class Pruned(Protocol):
    """The attributes of a fitted `EnsemblePruner` that are plotted."""

    ensemble_: Ensemble
    selected_: Any
    lam_: float | None
    unpruned_: dict[str, float]
    validation_rows_: str
    validation_curve_: pd.DataFrame
    feature_shares_: pd.DataFrame


def plot_curve(pruner: Pruned, ax: Any = None) -> Any:
    """Plot error against mean cost.

    The picture shows the trees on the rows of the objective (a convex curve), the vote on
    validation rows, the unpruned ensemble and the selected one.
    """
    ax = _axes(ax, (7, 4.2))
    curve, unpruned = pruner.validation_curve_, pruner.unpruned_
    squared = pruner.ensemble_.classes is None
    where = {
        "given": "validation rows",
        "set aside": "rows set aside",
        "rows of fit": "the same rows",
    }[pruner.validation_rows_]
    ax.plot(
        curve["cost"],
        curve["error"],
        color=OBJECTIVE,
        marker=".",
        markersize=4,
        linewidth=1.2,
        label="mean of the trees (objective)",
    )
    x, y, spread = (
        curve[c].to_numpy() for c in ("validation_cost", "validation_error", "standard_error")
    )
    ax.fill_between(
        x, np.maximum(0, y - spread), y + spread, step=None, color=VOTE, alpha=0.13, linewidth=0
    )
    ax.plot(
        x,
        y,
        color=VOTE,
        marker="o",
        markersize=3.5,
        linewidth=1.2,
        label=f"{'mean' if squared else 'vote'} of the ensemble, {where} (± standard error)",
    )
    ax.axhline(unpruned["validation_error"], color=VOTE, linewidth=0.8, linestyle=":")
    ax.plot(
        unpruned["validation_cost"],
        unpruned["validation_error"],
        color=VOTE,
        marker="*",
        markersize=13,
        linestyle="",
        label="unpruned",
    )
    chosen = _chosen(pruner)
    if chosen is not None:
        at = curve.iloc[chosen]
        label = f"selected: λ = {at['lam']:.3g}"
        ax.plot(
            at["validation_cost"],
            at["validation_error"],
            "o",
            color=CHOSEN,
            markersize=11,
            markerfacecolor="none",
            markeredgewidth=2,
            label=label,
        )
    ax.set(
        xlabel="mean cost of a row",
        ylabel="mean squared error" if squared else "share of errors",
        title=_title(pruner),
        xlim=(0, None),
        ylim=_visible(curve, unpruned),
    )
    ax.legend(fontsize="small")
    return ax


def plot_features(pruner: Pruned, ax: Any = None, most: int = 25) -> Any:
    """Plot which features are needed at which λ.

    The colour is the share of the validation rows. Features that are needed up to the largest λ
    are at the top.
    """
    shares, lams = pruner.feature_shares_, pruner.validation_curve_["lam"].to_numpy()
    order = _by_disappearance(shares)
    shown = [c for c in order if shares[c].max() > 0][:most]
    ax = _axes(ax, (8, 1.2 + 0.24 * max(4, len(shown))))
    edges = _edges(lams)
    mesh = ax.pcolormesh(
        edges,
        np.arange(len(shown) + 1),
        shares[shown].to_numpy().T[:, : len(edges) - 1],
        cmap="Blues",
        vmin=0,
        vmax=1,
    )
    ax.set(
        xscale="log",
        xlim=(edges[0], edges[-1]),
        yticks=np.arange(len(shown)) + 0.5,
        yticklabels=shown,
        xlabel="λ (price of a unit of cost)",
    )
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    left_out = sum(shares[c].max() > 0 for c in order) - len(shown)
    ax.set_title(
        "features needed along the path"
        + (f" ({left_out} more are given up earlier)" if left_out else "")
    )
    ax.figure.colorbar(mesh, ax=ax, label="share of rows", pad=0.02)
    if pruner.lam_ is not None and _chosen(pruner) is not None:
        ax.axvline(max(pruner.lam_, edges[0]), color=CHOSEN, linewidth=1.5)
        ax.annotate(
            "selected",
            (max(pruner.lam_, edges[0]), 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -10),
            textcoords="offset points",
            color=CHOSEN,
            fontsize="small",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    return ax


def plot_acquisition(table: pd.DataFrame, ax: Any = None, most: int = 20) -> Any:
    """Plot the share of the rows that need each feature, and the mean cost of a row up to it."""
    table = table[(table["share"] > 0) | (table["splits"] > 0)]
    left_out = max(0, len(table) - most)
    table = table.iloc[:most]
    ax = _axes(ax, (7, 1.3 + 0.26 * max(4, len(table))))
    at = np.arange(len(table))
    if "share_unpruned" in table:
        ax.barh(at, table["share_unpruned"], height=0.8, color="0.88", label="unpruned")
    ax.barh(at, table["share"], height=0.55, color=VOTE, label="pruned")
    ax.set(yticks=at, yticklabels=table.index, xlim=(0, 1), ylim=(len(table) - 0.4, -0.6))
    ax.tick_params(axis="y", length=0)
    above = ax.twiny()
    above.plot(
        table["cumulative_cost"], at, color=CHOSEN, marker="o", markersize=3.5, linewidth=1.2
    )
    above.set_xlim(0, 1.05 * max(float(table["cumulative_cost"].max()), 1e-9) if len(table) else 1)
    above.set_xlabel("mean cost so far", color=CHOSEN)
    above.tick_params(axis="x", colors=CHOSEN)
    ax.set_xlabel(
        "share of rows that need the feature"
        + (f" ({left_out} more features not shown)" if left_out else "")
    )
    ax.legend(
        fontsize="small",
        loc="upper center",
        bbox_to_anchor=(0.5, -0.6 / ax.figure.get_figheight()),
        ncols=2,
        frameon=False,
    )
    return ax


# -- parts -----------------------------------------------------------------------------------------------------------


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def _chosen(pruner: Pruned) -> int | None:
    """Row of the validation curve that holds the selected pruning."""
    if pruner.lam_ is None:
        return None
    return (
        int(np.searchsorted(pruner.validation_curve_["lam"].to_numpy(), pruner.lam_, side="right"))
        - 1
    )


def _title(pruner: Pruned) -> str:
    chosen = pruner.selected_.ensemble
    return f"{pruner.ensemble_.n_trees} trees, {chosen.n_splits} of {pruner.ensemble_.n_splits} splits kept"


def _visible(curve: pd.DataFrame, unpruned: dict[str, float]) -> tuple[float, float]:
    """Ends of the error axis."""
    high = max(curve["error"].max(), curve["validation_error"].max(), unpruned["validation_error"])
    return 0.0, 1.08 * float(high) or 1.0


def _by_disappearance(shares: pd.DataFrame) -> list[str]:
    """Features by the largest λ for which they are needed, then by the share of rows."""
    needed = shares.to_numpy() > 0
    last = np.where(needed.any(axis=0), len(shares) - 1 - needed[::-1].argmax(axis=0), -1)
    return [str(shares.columns[k]) for k in np.lexsort((-shares.sum(axis=0).to_numpy(), -last))]


def _edges(lams: np.ndarray) -> np.ndarray:
    """Ends of the intervals of λ on a logarithmic axis.

    0 is moved beside the first breakpoint, and the last interval is open.
    """
    positive = lams[lams > 0]
    if not len(positive):
        return np.array([0.1, 1.0])
    return np.concatenate([[positive[0] / 2], positive, [positive[-1] * 1.6]])
