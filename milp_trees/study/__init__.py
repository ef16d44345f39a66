"""Studies: problems × methods × seeds under fixed limits, as rows in a database."""
