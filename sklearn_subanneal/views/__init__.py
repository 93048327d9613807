"""Cross-categorization: a partition of the columns into views, and of the rows in every view."""
