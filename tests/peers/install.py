"""Make a virtual environment for every peer: python tests/peers/install.py FOLDER."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

PEERS = {"pydl8.5": "pydl8.5==0.1.8", "pytrees-rs": "pytrees-rs==2.0.0"}


def main() -> None:
    for name, wanted in PEERS.items():
        place = Path(sys.argv[1]) / name
        venv.create(place, with_pip=True)
        subprocess.run([str(place / "bin" / "pip"), "install", "-q", wanted], check=True)


if __name__ == "__main__":
    main()
