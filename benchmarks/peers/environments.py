"""Makes an environment of its own for every peer, with pinned versions, in the user's cache folder.

    python benchmarks/peers/environments.py [PEER …]

They need up to half a gigabyte each. The benchmarks and `tests/peers` run them from there.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import platformdirs

FOLDER = platformdirs.user_cache_path("milp-trees") / "peers"
#: What is installed for a peer: the program, and what it does not pin itself.
#: odtlearn's extra `cbc` brings the python-mip that it calls, with CBC in it, for Python before 3.12.
NEEDS = {
    "pystreed": ["pystreed==1.4.0"],
    "odtlearn": ["odtlearn[cbc]==1.1.0", "setuptools<80"],
    "rollotree": ["rollotree==2.2.0"],
    "pydl8.5": ["pydl8.5==0.1.8", "numpy<2", "scikit-learn<1.6", "setuptools<80"],
    "pytrees-rs": ["pytrees-rs==2.0.0"],
    "arborenum": ["arborenum==0.2.6"],
    "gosdt": ["gosdt==1.0.4"],
}


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment, whether it exists or not.

    The variable `MILP_TREES_PEER_<NAME>` names another one.
    """
    given = os.environ.get("MILP_TREES_PEER_" + re.sub(r"\W", "_", peer).upper())
    return Path(given) if given else FOLDER / peer / "bin" / "python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peers", nargs="*", help=f"by default {' '.join(NEEDS)}")
    for peer in parser.parse_args().peers or NEEDS:
        if peer not in NEEDS:
            sys.exit(f"There is no peer {peer!r}; there are {', '.join(NEEDS)}.")
        print(f"{peer}: {' '.join(NEEDS[peer])}", flush=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        venv.create(FOLDER / peer, with_pip=True, clear=True)
        subprocess.run([python_of(peer), "-m", "pip", "install", "-q", *NEEDS[peer]], check=True)
        print(f"{peer}: {python_of(peer)}", flush=True)


if __name__ == "__main__":
    main()
