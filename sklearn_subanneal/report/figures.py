"""Figures of a report: displays of views, dependence and traces as PNG images embedded in HTML."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from sklearn_subanneal._core.counted_nouns import counted
from sklearn_subanneal.report.source import Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sklearn_subanneal.estimators import CrossCat

DOTS_PER_INCH = 110
MOST_ROWS = 1000


@dataclass(frozen=True)
class Picture:
    """A picture to be embedded in a page.

    Attributes
    ----------
    source : str
        A data URI.
    alt, caption : str
    """

    source: str
    alt: str
    caption: str


def draw_pictures(model: CrossCat, source: Source) -> dict[str, Picture]:
    """The pictures "views", "dependence" and "traces".

    Parameters
    ----------
    model : CrossCat
        Fitted to the table.
    source : Source

    Returns
    -------
    dict of str to Picture

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    import matplotlib.pyplot as plt

    from sklearn_subanneal.plotting import DependenceDisplay, TraceDisplay, ViewsDisplay

    n_rows, n_columns = source.X.shape
    shown = f" {MOST_ROWS:,} evenly spaced rows are shown." if n_rows > MOST_ROWS else ""
    size = f"{counted(n_columns, 'column')} in {counted(model.n_views_, 'view')}"
    pictures = {
        "views": Picture(
            _encoded(ViewsDisplay.from_estimator(model, source.X, max_rows=MOST_ROWS).figure_),
            f"The table as coloured cells: {counted(n_rows, 'row')}, {size}, the rows of each view sorted by cluster",
            "Each block is a view, with its own order of the rows; lines separate its clusters. Numbers are coloured "
            "by their distance from the mean, categories each by a colour; missing cells are grey." + shown,
        ),
        "dependence": Picture(
            _encoded(DependenceDisplay.from_estimator(model).figure_),
            f"Matrix of dependence: {size}; the most dependent pairs are in the table below",
            "Share of the draws in which two columns are in one view; frames mark the views of this report.",
        ),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
    for ax, field in zip(axes, ("log_joint", "n_views"), strict=True):
        TraceDisplay.from_estimator(model, field, ax=ax)
    pictures["traces"] = Picture(
        _encoded(figure),
        f"Log joint density and number of views after each sweep of {counted(model.n_chains_, 'chain')}",
        "Log joint density and number of views after each sweep. While rows enter (shaded) the log joint density "
        "falls, since it is a sum over rows; afterwards the chains should vary around a common level.",
    )
    return pictures


def _encoded(figure: Figure) -> str:
    """The figure as PNG in a data URI; the figure is closed."""
    import matplotlib.pyplot as plt

    drawn = BytesIO()
    figure.savefig(drawn, dpi=DOTS_PER_INCH, bbox_inches="tight")
    plt.close(figure)
    return f"data:image/png;base64,{base64.b64encode(drawn.getvalue()).decode('ascii')}"
