"""Parameters of an estimator that have no effect on documents: values that promise one are refused."""

from __future__ import annotations

# With the values that say nothing wrong of documents, the default first, and why others do.
OF_TABLES = {
    "missing_indicator": ((None,), "in which nothing is missing"),
    "covariance_type": (("auto", "diag"), "which have no reals"),
    "grids": (("data",), "whose grid always follows from their words"),
    "unseen": (("novel",), "which have no categories"),
}


def refuse_of_tables(estimator) -> None:
    """Raise ValueError if a parameter of an estimator of documents has a value that suits tables of columns alone."""
    for name, (values, reason) in OF_TABLES.items():
        given = getattr(estimator, name)
        # Not by ``in``: given may be an array.
        if not any(given is value or (isinstance(given, str) and given == value) for value in values):
            raise ValueError(f"{name}={given!r} does not suit documents, {reason}: set it to {values[0]!r}.")
