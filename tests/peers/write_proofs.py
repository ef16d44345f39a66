"""Writes the proofs of the optima of `instances.json` anew: python tests/peers/write_proofs.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peer_questions import HERE, INSTANCES, method_for, problem_of

import milp_trees as mt

PROOFS = HERE / "proofs"


def proof_of(question: dict[str, Any], path: Path) -> Path:
    """Solve a question, with a proof."""
    result = mt.solve(problem_of(question), method_for(question), proof=path)
    assert result.optimal
    return path


def main() -> None:
    PROOFS.mkdir(exist_ok=True)
    for name, one in INSTANCES.items():
        path = proof_of(one["question"], PROOFS / f"{name}.proof")
        print(f"{path.relative_to(HERE)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
