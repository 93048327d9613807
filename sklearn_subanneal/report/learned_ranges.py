"""learned_ranges: how far the numbers of columns were apart in the table that a model has learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn_subanneal.estimators import CrossCat


def learned_ranges(model: CrossCat) -> dict[str, float]:
    """The distance of the smallest number from the largest, by the names of the columns of which it is known.

    Parameters
    ----------
    model : CrossCat

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_subanneal import CrossCat
    >>> from sklearn_subanneal.report.learned_ranges import learned_ranges
    >>> X = pd.DataFrame({"day": [2459000.5, 2459008.25, 2459002.75] * 5, "kind": list("uvw") * 5})
    >>> learned_ranges(CrossCat(n_chains=1, n_draws=1, max_sweeps=0, feature_types={"day": "real"}).fit(X))
    {'day': 7.75}
    """
    out, table = {}, model._table
    for j, (column, at) in enumerate(zip(table.columns, table.places, strict=True)):
        if table.modelled(j).kind == "datetime":
            continue
        for limits in (model._models[place].drawn_between for place in at):
            # As far beyond the numbers as these are apart, at both ends.
            room = 0.0 if limits is None else float(np.ptp(limits)) / 3.0
            if 0.0 < room < np.inf:
                ends = limits[:, 0] + [room, -room]
                if column.derivation is not None:
                    ends = column.derivation.function.forward(ends)
                out[column.name] = float(np.ptp(ends))
    return out
