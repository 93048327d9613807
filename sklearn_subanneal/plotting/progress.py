"""Displays of what changes while chains run: their traces, and the schedules that drive them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.style import CHAIN_COLORS, DARK, SHADE, axes_for, tidy

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
    """A field of the trace against sweeps or seconds, a line a chain.

    Make it by :meth:`from_estimator`, :meth:`from_trace` or :meth:`from_draws`.

    Parameters
    ----------
    x, y : list of ndarray
        Coordinates of the line of every chain.
    x_name, y_name : str
        What the axes show.
    annealed : float, default=None
        Where on the horizontal axis the last chain had finished annealing; what is left of it is shaded.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        A line a chain.
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
        self, x: list[NDArray], y: list[NDArray], *, x_name: str, y_name: str, annealed: float | None = None
    ) -> None:
        self.x = x
        self.y = y
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
        if not hasattr(estimator, "trace_"):
            raise ValueError(f"estimator must have a trace_, {type(estimator).__name__} has none; fit it first.")
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
            As `trace_`, or as `TraceMonitor.get_logs` gives.
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
        for chain in np.unique(trace["chain"]):
            records = trace[trace["chain"] == chain]
            # Held-out scores are not taken at every sweep.
            there = records[~np.isnan(records[field].astype(np.float64))]
            x.append(there[against])
            y.append(there[field])
            if "progress" in names:
                annealing = records[records["progress"] < 1.0]
                ends.extend(annealing[against][-1:])
        annealed = float(max(ends)) if ends and against in ("sweep", "seconds") else None
        return cls(x, y, x_name=against, y_name=field, annealed=annealed).plot(ax, **kwargs)

    @classmethod
    def from_draws(cls, draws: ArrayLike, name: str, *, ax: "Axes | None" = None, **kwargs: Any) -> "TraceDisplay":
        """Plot posterior draws of a scalar.

        Parameters
        ----------
        draws : array-like of shape (n_chains, n_draws)
            Such as one of :func:`~sklearn_subanneal.posterior.scalar_draws`.
        name : str
            What they are.
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
            raise ValueError(f"draws must have shape (n_chains, n_draws), got {draws.shape}; pass one as draws[None].")
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
        for chain, (x, y) in enumerate(zip(self.x, self.y, strict=True)):
            color = {} if "color" in line_kw or "c" in line_kw else {"color": CHAIN_COLORS[chain % len(CHAIN_COLORS)]}
            label = "_nolegend_" if many else f"chain {chain}"
            self.lines_ += ax.plot(x, y, **{"label": label, **color, **style})
        ax.set(xlabel=_LABELS.get(self.x_name, self.x_name), ylabel=_LABELS.get(self.y_name, self.y_name))
        ax.margins(x=0.01)
        if ax.get_legend_handles_labels()[0] and (len(self.x) > 1 or self.annealed is not None):
            ax.legend(frameon=False, fontsize="small")
        tidy(ax)
        return self


class ScheduleDisplay:
    """The size of the subsample, and the inverse temperature, over the progress of a schedule.

    Make it by :meth:`from_schedule`.

    Parameters
    ----------
    progress : ndarray of shape (n_points,)
        Progress from 0 to 1.
    subsample_size : ndarray of shape (n_points,)
        Rows in the subsample.
    inverse_temperature : ndarray of shape (n_points,)
        Inverse temperatures.
    name : str, default=None
        The name of the schedule, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Subsample sizes.
    temperature_line_ : matplotlib Line2D or None
        Inverse temperatures, on axes of their own at the right; None where the temperature is 1 throughout.
    ax_ : matplotlib Axes
        The axes of the subsample sizes.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.plotting import ScheduleDisplay
    >>> class Linear:
    ...     def subsample_size(self, progress, n_rows):
    ...         return np.ceil(progress * n_rows).astype(int)
    ...     def inverse_temperature(self, progress):
    ...         return np.ones_like(progress)
    >>> display = ScheduleDisplay.from_schedule(Linear(), n_samples=1000)
    >>> int(display.subsample_size[-1]), display.temperature_line_ is None
    (1000, True)
    """

    def __init__(
        self, progress: NDArray, subsample_size: NDArray, inverse_temperature: NDArray, *, name: str | None = None
    ) -> None:
        self.progress = progress
        self.subsample_size = subsample_size
        self.inverse_temperature = inverse_temperature
        self.name = name

    @classmethod
    def from_schedule(
        cls,
        schedule: Any,
        n_samples: int,
        *,
        n_points: int = 501,
        name: str | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "ScheduleDisplay":
        """Plot a schedule.

        Parameters
        ----------
        schedule : schedule object
            With `subsample_size(progress, n_rows)` and `inverse_temperature(progress)`.
        n_samples : int
            Number of rows of the full data.
        n_points : int, default=501
            Number of points of progress, evenly from 0 to 1.
        name : str, default=None
            The name in the legend; None takes the name of the class.
        ax : matplotlib Axes, default=None
            Where to plot, perhaps the `ax_` of the display of another schedule; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        ScheduleDisplay

        Raises
        ------
        ValueError
            If a number is out of range.
        """
        if n_samples < 1 or n_points < 2:
            raise ValueError(f"n_samples must be at least 1 and n_points at least 2, got {n_samples} and {n_points}.")
        progress = np.linspace(0.0, 1.0, n_points)
        sizes = np.asarray(schedule.subsample_size(progress, n_samples))
        inverse_temperature = np.asarray(schedule.inverse_temperature(progress), dtype=np.float64)
        name = type(schedule).__name__ if name is None else name
        return cls(progress, sizes, inverse_temperature, name=name).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **line_kw: Any) -> "ScheduleDisplay":
        """Draw the schedule.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **line_kw
            Passed to :meth:`matplotlib.axes.Axes.plot` for the subsample sizes.

        Returns
        -------
        ScheduleDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_for(self, ax)
        color = CHAIN_COLORS[len(ax.lines) % len(CHAIN_COLORS)]
        (self.line_,) = ax.plot(
            self.progress, self.subsample_size, **{"color": color, "linewidth": 2, "label": self.name, **line_kw}
        )
        ax.set(xlabel=_LABELS["progress"], ylabel="rows in the subsample", xlim=(0, 1), ylim=(0, None))
        self.temperature_line_ = None
        tidy(ax)
        if (self.inverse_temperature != 1.0).any():
            right = ax.twinx()
            (self.temperature_line_,) = right.plot(
                self.progress, self.inverse_temperature, color=self.line_.get_color(), linestyle="--", linewidth=1.5
            )
            right.set(ylabel="inverse temperature (dashed)", ylim=(0, 1.05))
            right.yaxis.label.set_color(DARK)
            tidy(right, "top")
        if self.name is not None:
            ax.legend(frameon=False, fontsize="small", loc="upper left")
        return self
