"""Standard output belongs to the program that calls HiGHS in its own process."""

import subprocess
import sys

CALLS = {
    "HiGHS": "from milp_trees.mip.linear.silent_highs import silent_highs; silent_highs().run()",
    "a file that is read": "from milp_trees.mip.linear.reading import read_model; read_model({path!r})",
}


def test_nothing_is_printed(tmp_path):
    path = tmp_path / "model.mps"
    path.write_text("NAME m\nROWS\n N obj\n L c1\nCOLUMNS\n x c1 1\nRHS\n rhs c1 1\nENDATA\n")
    for what, call in CALLS.items():
        command = [sys.executable, "-c", call.format(path=str(path))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout == done.stderr == "", what


def test_it_works_without_standard_streams():
    """As under pythonw, or in a service that closed them."""
    call = "import os, sys; os.close(1); os.close(2); sys.stdout = None; " + CALLS["HiGHS"]
    assert subprocess.run([sys.executable, "-c", call], check=False).returncode == 0
