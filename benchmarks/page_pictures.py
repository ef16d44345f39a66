"""The two pictures of pages that the README and the site's first page begin with, as PNG: the
interactive tree page of `people.csv`, and the page of a stored study.

python benchmarks/page_pictures.py

It needs playwright (of the extra `test`) and a Chromium, `chromium` or `google-chrome` in the path.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
from _site.live import tree_page  # noqa: E402

#: The page that the commands of docs/benchmarks/formulations.md write.
STUDY = ROOT / "benchmarks" / "results" / "published_short.html"
FOLDER = ROOT / "docs" / "start" / "pictures"
#: Some of its methods, each of a kind of its own.
METHODS = ["dp", "peer-pystreed", "state-flow@highs", "path-cut@highs", "bin-oct@cp-sat", "cart"]
COLOURS = 64


def shot(browser: Any, address: str, size: tuple[int, int], section: str = "") -> bytes:
    """What a window of a size shows of a page, twice as sharp, from a section on if one is named."""
    width, height = size
    tab = browser.new_page(
        viewport={"width": width, "height": height}, device_scale_factor=2, color_scheme="light"
    )
    tab.goto(address)
    if section:
        tab.wait_for_selector(f"#{section}")
        tab.evaluate("id => document.getElementById(id).scrollIntoView()", section)
    tab.wait_for_timeout(1000)  # what comes near the window is drawn
    picture: bytes = tab.screenshot(animations="disabled")
    tab.close()
    return picture


def small(picture: bytes) -> bytes:
    """The same picture with few colours: a quarter of the bytes, and text as sharp as before."""
    from PIL import Image

    out = io.BytesIO()
    reduced = (
        Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    )
    reduced.save(out, format="PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("No chromium or google-chrome in the path; install one of them.")
    chosen = quote(f"~{json.dumps(METHODS)}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tree = tree_page(Path(folder)).as_uri()
        study = f"{STUDY.as_uri()}#only.method={chosen}"
        for name, picture in {
            "tree_page": shot(browser, tree, (1100, 600)),
            "study_page": shot(browser, study, (1100, 640), "solved"),
        }.items():
            file = FOLDER / f"{name}.png"
            file.write_bytes(small(picture))
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
