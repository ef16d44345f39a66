"""What the documentation site is built with: pages from the classes, links, formulas, checks."""
