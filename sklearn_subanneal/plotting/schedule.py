"""ScheduleDisplay: subsample size and inverse temperature of an annealing schedule over its progress."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.plotting.style import CHAIN_COLORS, DARK, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ScheduleDisplay:
    """Subsample size and inverse temperature over the progress of a schedule.

    Make it by :meth:`from_schedule`. Several schedules can share axes: pass `ax_` of the first display to the others.

    Parameters
    ----------
    progress : ndarray of shape (n_points,)
        Progress from 0 to 1, first of the starts of the schedule, if it has some.
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
        Inverse temperatures, with their own axis on the right; None if the temperature is always 1.
    ax_ : matplotlib Axes
        The axes of the subsample sizes.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from sklearn_subanneal.annealing.schedules import SubsampleAnneal
    >>> from sklearn_subanneal.plotting import ScheduleDisplay
    >>> display = ScheduleDisplay.from_schedule(SubsampleAnneal(), n_samples=500)
    >>> int(display.subsample_size[-1]), display.temperature_line_ is None
    (500, True)
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
        n_samples: int = 1000,
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
            A :class:`~sklearn_subanneal.annealing.schedules.Schedule`, or an object with its methods
            `subsample_size(progress, n_rows)` and `inverse_temperature(progress, n_rows)`. Starts, if it has a method
            `starts(n_rows)`, are drawn one after the other, each as long as its share of the row assignments.
        n_samples : int, default=1000
            Number of rows of the table.
        n_points : int, default=501
            Number of evenly spaced points of progress from 0 to 1, for the schedule and for each of its starts.
        name : str, default=None
            Name in the legend; None: the name of the class.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
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
        starts = schedule.starts(n_samples) if hasattr(schedule, "starts") else []
        shares = [start.n_assignments(n_samples) / schedule.n_assignments(n_samples) for start in starts]
        ends = np.append(np.cumsum(shares), 1.0)
        progress = np.linspace(0.0, 1.0, n_points)
        legs = [*starts, schedule]
        sizes = [np.asarray(leg.subsample_size(progress, n_samples)) for leg in legs]
        powers = [np.asarray(leg.inverse_temperature(progress, n_samples), dtype=np.float64) for leg in legs]
        of_course = [begin + (end - begin) * progress for begin, end in zip([0.0, *ends], ends, strict=False)]
        name = type(schedule).__name__ if name is None else name
        return cls(*map(np.concatenate, (of_course, sizes, powers)), name=name).plot(ax, **kwargs)

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
        ax.set(xlabel="progress of the schedule", ylabel="rows in the subsample", xlim=(0, 1), ylim=(0, None))
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
