"""The tables that `engines.py` prints and `report.py` puts into docs/benchmarks/index.md."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).parent / "results"
OURS, FRONT = "milp-trees", "milp-trees, front"
PEERS = ("pystreed", "pydl8.5", "gosdt")
TITLES = {
    "accuracy": "Misclassifications",
    "costs": "Cost matrices and costs per row",
    "weights": "Row weights",
    "min-leaf": "At least 10 rows in every leaf",
    "f1": "F1 score",
    "sparse": "A penalty per leaf",
}
CASE = ["section", "set", "depth", "setting", "limit"]
#: Ratios of shorter runs measure preparation more than search.
SHORT = 0.1
ANSWERED = ("optimal", "stopped")


def read(path: Path) -> pd.DataFrame:
    """The rows of `engines.py`; no depth limit is written `none`."""
    return pd.read_csv(path, dtype={"depth": str}, keep_default_na=True).fillna(
        {"setting": "", "message": ""}
    )


def peers(section: str) -> str:
    """The peers that have rows in a section, comma-separated."""
    table = pd.read_csv(RESULTS / "engines.csv")
    return ",".join(m for m in PEERS if m in set(table.method[table.section == section]))


def pairs(table: pd.DataFrame) -> pd.DataFrame:
    """One row per case and peer: our columns beside the peer's, and our time over theirs, where we
    have proven the optimum and the peer has run.
    """
    both = table[table.method == OURS].merge(
        table[table.method != OURS], on=CASE, suffixes=("", "_peer")
    )
    counts = (both.status == "optimal") & both.status_peer.isin(ANSWERED)
    for measure in ("engine", "cpu"):
        both[f"{measure}_ratio"] = (both[measure] / both[f"{measure}_peer"]).where(counts)
    both["differs"] = (
        (both.status == "optimal")
        & (both.status_peer == "optimal")
        & ~close(both.value, both.value_peer)
    )
    return both


def close(a: pd.Series, b: pd.Series) -> pd.Series:
    return (a - b).abs() <= 1e-9 * (1 + a.abs())


def geometric_mean(values: pd.Series) -> float:
    values = values.dropna()
    return math.exp(values.map(math.log).mean()) if len(values) else math.nan


def number(value: float, digits: int = 3) -> str:
    return "" if value is None or pd.isna(value) else f"{value:.{digits}g}"


def seconds(row: pd.Series | None) -> str:
    """Time of an engine; what happened instead, where there is no optimum."""
    if row is None:
        return ""
    if row.status == "optimal":
        return number(row.engine)
    return (
        f"> {number(row.engine)}"
        if row.status == "stopped"
        else ""
        if row.status == "unsupported"
        else str(row.status)
    )


def ratio(value: float, status_peer: str) -> str:
    """Ours over theirs; where a limit ended the peer, the true ratio is smaller still."""
    return "" if pd.isna(value) else f"{'< ' if status_peer == 'stopped' else ''}{value:.3f}"


def lines(table: pd.DataFrame) -> pd.DataFrame:
    """One readable line per case: value, seconds of everyone, ratios and memory."""
    peers = [m for m in (FRONT, "pystreed", "pydl8.5", "gosdt") if m in set(table.method)]
    paired = pairs(table).set_index([*CASE, "method_peer"])
    order = table.assign(number=table.depth.replace({"none": "99"}).astype(int)).sort_values(
        ["setting", "number", "set"]
    )
    out = []
    for key, group in order.groupby(CASE, sort=False):
        by = {r.method: r for _, r in group.iterrows()}
        ours = by.get(OURS)
        _, name, depth, setting, _ = key
        line = {
            "set": name,
            "depth": "∞" if depth == "none" else depth,
            "setting": setting,
            "value": "" if ours is None else number(ours.value, 8),
            "s": seconds(ours),
        }
        for peer in peers:
            line[f"{peer} s"] = seconds(by.get(peer))
            found = paired.loc[(*key, peer)] if (*key, peer) in paired.index else None
            line[f"/ {peer}"] = (
                ""
                if found is None
                else f"**{number(found.value_peer, 8)}!**"
                if found.differs
                else ratio(found.engine_ratio, found.status_peer)
            )
            line[f"call / {peer}"] = (
                "" if found is None else ratio(found.cpu_ratio, found.status_peer)
            )
        line |= {
            "MB": "" if ours is None else number(ours.peak_mb, 4),
            **{f"MB {p}": number(by[p].peak_mb, 4) if p in by else "" for p in peers},
        }
        out.append(line)
    wide = pd.DataFrame(out)
    return wide.drop(columns=[c for c in wide.columns if (wide[c] == "").all()])


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Geometric means of the ratios per setting, depth and peer; how often the values agree; the
    largest ratio that is not all preparation.
    """
    out = []
    for (setting, depth, peer), group in pairs(table).groupby(["setting", "depth", "method_peer"]):
        both = group[(group.status == "optimal") & (group.status_peer == "optimal")]
        slow = group[group.engine_peer >= SHORT]
        heavier = (group.peak_mb - group.peak_mb_peer).max()
        out.append(
            {
                "setting": setting,
                "depth": "∞" if depth == "none" else depth,
                "peer": peer,
                "cases": int(group.engine_ratio.notna().sum()),
                "same optimum": f"{int((~both.differs).sum())} of {len(both)}",
                "engine": number(geometric_mean(group.engine_ratio)),
                "whole call": number(geometric_mean(group.cpu_ratio)),
                f"largest, peer ≥ {SHORT} s": number(slow.engine_ratio.max()),
                "only we prove": int(
                    ((group.status == "optimal") & (group.status_peer != "optimal")).sum()
                ),
                "only the peer proves": int(
                    ((group.status != "optimal") & (group.status_peer == "optimal")).sum()
                ),
                "most MB above": number(heavier),
            }
        )
    found = pd.DataFrame(out)
    return found.drop(columns=["setting"]) if len(found) and (found.setting == "").all() else found


def times(table: pd.DataFrame) -> pd.DataFrame:
    """Sets × (depth, engine): processor seconds of preparation and search, as in tables 7 and 10 of
    the STreeD paper; `>` where the limit ended the run.
    """
    table = table.assign(
        cell=[seconds(r) for _, r in table.iterrows()],
        column=[f"{m} {d}" for m, d in zip(table.method, table.depth, strict=True)],
    )
    wide = table.pivot_table(index="set", columns="column", values="cell", aggfunc="first").fillna(
        ""
    )
    methods = [m for m in (OURS, FRONT, "pystreed", "pydl8.5", "gosdt") if m in set(table.method)]
    columns = [
        f"{m} {d}" for d in sorted(set(table.depth)) for m in methods if f"{m} {d}" in wide.columns
    ]
    return (
        wide[columns]
        .reset_index()
        .rename(columns={c: "{}, depth {}".format(*c.rsplit(" ", 1)) for c in columns})
    )


def threads(table: pd.DataFrame) -> pd.DataFrame:
    """Wall seconds of the whole call with one and with two threads."""
    wide = (
        table[table.status == "optimal"]
        .pivot_table(index=["set", "depth"], columns="setting", values="call")
        .dropna()
    )
    wide["speed-up"] = wide["1 threads"] / wide["2 threads"]
    return (
        wide.rename(columns={"1 threads": "one thread, s", "2 threads": "two threads, s"})
        .map(number)
        .reset_index()
    )


def sections(table: pd.DataFrame, start: Path) -> Iterator[tuple[str, str, list[pd.DataFrame]]]:
    """(name of the section, title, its tables)."""
    for name, title in TITLES.items():
        part = table[table.section == name]
        if len(part):
            more = [times(part)] if name in ("accuracy", "f1") else []
            yield name, title, [means(part), lines(part), *more]
    part = table[table.section == "threads"]
    if len(part):
        yield "threads", "The second core", [threads(part)]
    part = table[table.section == "long"]
    if len(part):
        yield (
            "long",
            "Ten minutes",
            [part[["set", "depth", "value", "bound", "status", "engine", "peak_mb"]]],
        )
    if start.exists():
        yield "start", "The first answer", [pd.read_csv(start).fillna("")]
