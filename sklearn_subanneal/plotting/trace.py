"""TraceDisplay: a quantity recorded after each sweep, with one line for each chain."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.checks import require_attributes
from sklearn_subanneal.plotting.style import CHAIN_COLORS, SHADE, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "chain": "chain",
    "concentration": "concentration",
    "discount": "discount",
    "held_out_score": "held-out log density a row",
    "inverse_temperature": "inverse temperature",
    "log_joint": "log joint density",
    "n_assigned": "rows assigned",
    "n_clusters": "number of clusters",
    "n_moved": "rows that changed cluster",
    "n_views": "number of views",
    "progress": "progress of the schedule",
    "seconds": "seconds",
    "sweep": "sweep",
}
_MAX_LEGEND = len(CHAIN_COLORS)


class TraceDisplay:
    """A field of the trace against sweeps or seconds, one line for each chain.

    Make it by :meth:`from_estimator`, :meth:`from_trace` or :meth:`from_draws`.

    Parameters
    ----------
    x, y : list of ndarray
        Coordinates of the line of each chain.
    x_name, y_name : str
        Names of the quantities on the axes.
    annealed : float, default=None
        End of the annealing of the last chain on the horizontal axis; the part before it is shaded.
    chains : list of int, default=None
        Numbers of the chains; None: from 0 on.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One line for each chain.
    ax_ : matplotlib Axes
        The axes with the lines.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.plotting import TraceDisplay
    >>> display = TraceDisplay.from_draws(np.random.default_rng(0).normal(size=(4, 100)), "concentration")
    >>> len(display.lines_), display.ax_.get_ylabel()
    (4, 'concentration')
    """

    def __init__(
        self,
        x: list[NDArray],
        y: list[NDArray],
        *,
        x_name: str,
        y_name: str,
        annealed: float | None = None,
        chains: list[int] | None = None,
    ) -> None:
        self.x = x
        self.y = y
        self.chains = list(range(len(x))) if chains is None else chains
        self.x_name = x_name
        self.y_name = y_name
        self.annealed = annealed

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        field: str = "log_joint",
        against: str = "sweep",
        *,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "TraceDisplay":
        """Plot a field of `trace_` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With a structured array `trace_`.
        field, against, ax, **kwargs
            As in :meth:`from_trace`.

        Returns
        -------
        TraceDisplay

        Raises
        ------
        ValueError
            If the estimator keeps no trace or has no such field.
        """
        require_attributes(estimator, "trace_")
        return cls.from_trace(estimator.trace_, field, against, ax=ax, **kwargs)

    @classmethod
    def from_trace(
        cls,
        trace: NDArray,
        field: str = "log_joint",
        against: str = "sweep",
        *,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "TraceDisplay":
        """Plot a field of a trace.

        The phase of annealing is shaded; `trace[trace["progress"] == 1]` leaves it out.

        Parameters
        ----------
        trace : structured ndarray of shape (n_records,)
            `trace_` of an estimator, or the records of :meth:`TraceMonitor.get_logs`.
        field : str, default="log_joint"
            The field on the vertical axis.
        against : str, default="sweep"
            The field on the horizontal axis: "sweep", "seconds", "progress" or any other.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        TraceDisplay

        Raises
        ------
        ValueError
            If the trace has no such field.
        """
        names = trace.dtype.names or ()
        for parameter, name in (("field", field), ("against", against)):
            if name not in names:
                raise ValueError(f"{parameter} must be one of the fields of the trace, {list(names)}, got {name!r}.")
        x, y, ends = [], [], []
        chains = np.unique(trace["chain"])
        for chain in chains:
            records = trace[trace["chain"] == chain]
            # Held-out scores are not computed after every sweep.
            scored = records[~np.isnan(records[field].astype(np.float64))]
            x.append(scored[against])
            y.append(scored[field])
            if "progress" in names:
                annealing = records[records["progress"] < 1.0]
                ends.extend(annealing[against][-1:])
        annealed = float(max(ends)) if ends and against in ("sweep", "seconds") else None
        return cls(x, y, x_name=against, y_name=field, annealed=annealed, chains=chains.tolist()).plot(ax, **kwargs)

    @classmethod
    def from_draws(cls, draws: ArrayLike, name: str, *, ax: "Axes | None" = None, **kwargs: Any) -> "TraceDisplay":
        """Plot posterior draws of a scalar.

        Parameters
        ----------
        draws : array-like of shape (n_chains, n_draws)
            Posterior draws, for example from :func:`~sklearn_subanneal.posterior.scalar_draws`.
        name : str
            Name of the scalar.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        TraceDisplay

        Raises
        ------
        ValueError
            If `draws` has another shape.
        """
        draws = np.asarray(draws)
        if draws.ndim != 2:
            raise ValueError(
                f"draws must have shape (n_chains, n_draws), got {draws.shape}; pass one chain as draws[None]."
            )
        positions = [np.arange(draws.shape[1])] * len(draws)
        return cls(positions, list(draws), x_name="draw", y_name=name).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **line_kw: Any) -> "TraceDisplay":
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **line_kw
            Passed to :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        TraceDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_for(self, ax)
        if self.annealed is not None:
            start = min(x[0] for x in self.x if len(x))
            ax.axvspan(start, self.annealed, color=SHADE, linewidth=0, zorder=0, label="annealing")
        many = len(self.x) > _MAX_LEGEND
        style = {"linewidth": 0.8 if many else 1.2, "alpha": 0.5 if many else 0.9, **line_kw}
        self.lines_ = []
        for chain, x, y in zip(self.chains, self.x, self.y, strict=True):
            color = {} if "color" in line_kw or "c" in line_kw else {"color": CHAIN_COLORS[chain % len(CHAIN_COLORS)]}
            label = "_nolegend_" if many else f"chain {chain}"
            self.lines_ += ax.plot(x, y, **{"label": label, **color, **style})
        ax.set(xlabel=_LABELS.get(self.x_name, self.x_name), ylabel=_LABELS.get(self.y_name, self.y_name))
        ax.margins(x=0.01)
        if ax.get_legend_handles_labels()[0] and (len(self.x) > 1 or self.annealed is not None):
            ax.legend(frameon=False, fontsize="small")
        tidy(ax)
        return self
