"""What a wheel and an sdist hold: `python .ci/contents.py dist/*`; a sentence and exit code 1 for what
is wrong.
"""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "milp_trees/__init__.py").read_text())[1]
#: Folders of sources and where a wheel has them.
FOLDERS = {
    "milp_trees": "milp_trees",
    "formulations": "milp_trees/formulations",
    "solvers": "milp_trees/solvers",
}
LICENCES = ("LICENSE", "milp_trees/exports/pages/assets/vendor/LICENSES.txt")


def sources(folder: str) -> list[str]:
    """Names of the files below a folder that belong to the package."""
    return [
        str(path.relative_to(ROOT / folder))
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]


def faults_of_wheel(names: set[str]) -> list[str]:
    """Sentences about what a wheel lacks and what it should not hold."""
    data = f"milp_trees-{VERSION}.dist-info"
    wanted = {f"{place}/{name}" for folder, place in FOLDERS.items() for name in sources(folder)}
    wanted |= {f"{data}/licenses/{name}" for name in LICENCES}
    held = {name for name in names if not name.startswith(data) or "/licenses/" in name}
    return [
        *(f"The wheel lacks {name}." for name in sorted(wanted - held)),
        *(f"The wheel holds {name}, which is no source." for name in sorted(held - wanted)),
    ]


def faults_of_sdist(names: set[str]) -> list[str]:
    """Sentences about what an sdist lacks and what it should not hold."""
    wanted = {f"{folder}/{name}" for folder in FOLDERS for name in sources(folder)}
    wanted |= {*LICENCES, "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"}
    made = {"PKG-INFO", "setup.cfg", "MANIFEST.in"}
    held = {name for name in names if not name.startswith("milp_trees.egg-info/")} - made
    return [
        *(f"The sdist lacks {name}." for name in sorted(wanted - held)),
        *(f"The sdist holds {name}, which is no source." for name in sorted(held - wanted)),
    ]


def faults_of_texts() -> list[str]:
    """Sentences about texts that name another version, or no date."""
    found = []
    if not re.search(
        rf"^## {re.escape(VERSION)} \(\d{{4}}-\d\d-\d\d\)$",
        (ROOT / "CHANGELOG.md").read_text(),
        re.MULTILINE,
    ):
        found.append(f"CHANGELOG.md has no heading `## {VERSION} (YYYY-MM-DD)`.")
    if f"\nversion: {VERSION}\n" not in (ROOT / "CITATION.cff").read_text():
        found.append(f"CITATION.cff does not say version {VERSION}.")
    return found


def main(files: list[str]) -> int:
    found = faults_of_texts()
    for file in files:
        if file.endswith(".whl"):
            with zipfile.ZipFile(file) as wheel:
                found += faults_of_wheel({n for n in wheel.namelist() if not n.endswith("/")})
        else:
            with tarfile.open(file) as sdist:
                names = {m.name.partition("/")[2] for m in sdist.getmembers() if m.isfile()}
            found += faults_of_sdist(names)
    print("\n".join(found) or f"{len(files)} files hold what they should.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
