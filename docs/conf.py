"""The documentation site; `make site` builds it into build/site."""

import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from _site import generate, links, tidy  # noqa: E402

import milp_trees  # noqa: E402

project = html_title = "milp-trees"
author = "The milp-trees developers"
release = version = milp_trees.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "_site.code_pages",
    "_site.mathml",
]
exclude_patterns = ["_site", "_static"]
default_role = "code"
python_display_short_literal_types = True

# Notebooks are stored with their results and are not run here.
nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Types stand in the docstrings; those of signatures would only repeat them as links to nowhere.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
viewcode_follow_imported_members = True

html_theme = "pydata_sphinx_theme"
# The two interactive pages are files of their own, which the site only holds.
html_static_path = ["_static", "generated/live"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
# Extracts of pages would be fetched, which browsers forbid to pages opened from disk.
html_show_search_summary = False
html_theme_options: dict[str, Any] = {
    "logo": {"text": f"milp-trees {version}", "alt_text": "A drawn tree"},
    "show_prev_next": False,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "article_footer_items": [],
}


def setup(app: Sphinx) -> None:
    """Write the generated pages before any page is read, and let links lead to them."""
    generate.write()
    app.connect("source-read", links.reader())
    app.connect("doctree-read", tidy.tidy)
