"""Processor seconds of compilation in every step of the tutorial, from an empty folder of kernels.

Every command of the page is a process of its own, and so are its blocks of Python together. A
step's seconds are those of the thread that compiles, so other work on the machine hardly counts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[1] / "docs" / "start" / "tutorial.md"

#: Runs a command (`argv` after the file) or a script, and writes what was compiled to the file.
_CHILD = """
import atexit, contextlib, json, sys, time

from milp_trees.common.compiling import notices as telling

out, *argv = sys.argv[1:]
compiled, given = [], telling.kernel_compiled


@contextlib.contextmanager
def timed(name):
    began = time.thread_time()
    with given(name):
        yield
    compiled.append((name, time.thread_time() - began))


telling.kernel_compiled = timed
atexit.register(lambda: json.dump(compiled, open(out, "w")))
if argv[0] == "-":
    exec(compile(sys.stdin.read(), "<tutorial>", "exec"), {"__name__": "__main__"})
else:
    from milp_trees.__main__ import main

    sys.argv = argv
    main()
"""


class Step(NamedTuple):
    """A step: its text, and the kernels that it compiled with their processor seconds."""

    text: str
    kernels: list[tuple[str, float]]
    said: int

    @property
    def seconds(self) -> float:
        return sum(seconds for _, seconds in self.kernels)


def steps() -> list[str]:
    """Commands of the page in their order; its Python is the last one."""
    blocks = re.findall(r"```(bash|python)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    commands = [
        line for kind, text in blocks if kind == "bash" for line in text.strip().splitlines()
    ]
    return [*commands, "\n".join(text for kind, text in blocks if kind == "python")]


def run() -> list[Step]:
    """Every step from one folder of kernels, which is empty before the first.

    Raises
    ------
    SystemExit
        A step failed.
    """
    done = []
    with tempfile.TemporaryDirectory() as kernels, tempfile.TemporaryDirectory() as work:
        for text in steps():
            is_command = text.startswith("milp-trees ")
            log = Path(work) / "compiled.json"
            argv = text.split() if is_command else ["-"]
            ran = subprocess.run(
                [sys.executable, "-c", _CHILD, str(log), *argv],
                input=None if is_command else text,
                cwd=work,
                env={**os.environ, "NUMBA_CACHE_DIR": kernels},
                capture_output=True,
                text=True,
            )
            if ran.returncode:
                raise SystemExit(f"{text}\nends with {ran.returncode}:\n{ran.stderr}")
            compiled = [tuple(pair) for pair in json.loads(log.read_text("utf-8"))]
            done.append(Step(text, compiled, ran.stderr.count("Compiling ")))
    return done


def report(every_kernel: bool = False) -> float:
    """Print a line per step that compiles; the processor seconds of all steps."""
    found = run()
    for step in found:
        if step.kernels:
            title = step.text if step.text.startswith("milp-trees ") else "the blocks of Python"
            messages = f", {step.said} messages" if step.said else ""
            print(
                f"{step.seconds:6.1f} s  {title} ({len(step.kernels)} kernels{messages})",
                flush=True,
            )
        for name, seconds in step.kernels if every_kernel else ():
            print(f"         {seconds:6.2f}  {name}")
    total = sum(step.seconds for step in found)
    print(
        f"{total:6.1f} s  processor time of compilation in the {len(found)} steps of the tutorial"
    )
    return total


if __name__ == "__main__":
    report(every_kernel="--kernels" in sys.argv)
