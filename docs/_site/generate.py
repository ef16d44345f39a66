"""Writes docs/generated: every page that follows from the code."""

from __future__ import annotations

from _site import api_pages, gallery, links, live, object_pages, plugin_pages
from _site.files import Pages


def write() -> Pages:
    """Write all generated pages and delete those of earlier builds that have no cause any more."""
    pages = Pages()
    for part in (
        links.write_copies,
        api_pages.write,
        object_pages.write,
        plugin_pages.write,
        gallery.write,
        live.write,
    ):
        part(pages)
    pages.remove_others()
    return pages
