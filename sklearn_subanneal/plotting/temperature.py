"""TemperatureDisplay: inverse temperatures of a variational fit or of a cooling schedule."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.style import CHAIN_COLORS, axes_for, tidy
from sklearn_subanneal.variational import CoolingSchedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TemperatureDisplay:
    """E[1/T] at every step of a fit; with local temperatures its median and its 5 % and 95 % quantiles over documents.

    Made by :meth:`from_estimator` or :meth:`from_schedule`.

    Parameters
    ----------
    inverse_temperatures : ndarray of shape (n_steps,) or (n_steps, 3)
        E[1/T], or its three quantiles.
    steps : ndarray of shape (n_steps,), default=None
        Positions on the horizontal axis; None: 1, 2, ...
    name : str, default=None
        The name in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        E[1/T], or its median.
    band_ : matplotlib FillBetweenPolyCollection or None
        The band between the other two quantiles, if there are any.
    ax_ : matplotlib Axes
        The axes with the line.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingFMM
    >>> from sklearn_subanneal.plotting import TemperatureDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = VariationalTemperingFMM(n_components=2, max_iter=9, random_state=0).fit(X)
    >>> display = TemperatureDisplay.from_estimator(model)
    >>> bool(display.line_.get_ydata()[-1] == 1.0)
    True
    """

    def __init__(self, inverse_temperatures: NDArray, *, steps: NDArray | None = None, name: str | None = None) -> None:
        self.inverse_temperatures = inverse_temperatures
        self.steps = steps
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, name: str | None = None, ax: "Axes | None" = None, **kwargs: Any
    ) -> "TemperatureDisplay":
        """Plot the temperatures of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            VariationalTemperingLDA or VariationalTemperingFMM, whose `inverse_temperatures_` are plotted.
        name : str, default=None
            The name in the legend; None takes the parameter `tempering` of the estimator.
        ax : matplotlib Axes, default=None
            Where to plot, perhaps the `ax_` of the display of another estimator; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        TemperatureDisplay

        Raises
        ------
        ValueError
            If the estimator is not fitted.
        """
        if not hasattr(estimator, "inverse_temperatures_"):
            raise ValueError(
                f"estimator must have inverse_temperatures_, {type(estimator).__name__} has none; fit it first."
            )
        name = estimator.tempering if name is None else name
        return cls(np.asarray(estimator.inverse_temperatures_), name=name).plot(ax, **kwargs)

    @classmethod
    def from_schedule(
        cls,
        schedule: CoolingSchedule,
        *,
        n_points: int = 201,
        name: str | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "TemperatureDisplay":
        """Plot the inverse temperatures of a cooling schedule over progress in [0, 1].

        Parameters
        ----------
        schedule : CoolingSchedule
            Such as :class:`~sklearn_subanneal.variational.LinearCooling`.
        n_points : int, default=201
            Number of points, evenly spaced in progress.
        name : str, default=None
            The name in the legend; None takes the class of the schedule.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        TemperatureDisplay

        Raises
        ------
        ValueError
            If `n_points` is below 2, or a parameter of the schedule is out of range.
        """
        if n_points < 2:
            raise ValueError(f"n_points must be at least 2, got {n_points}.")
        schedule.check()
        progress = np.linspace(0.0, 1.0, n_points)
        inverse_temperatures = np.array([1.0 / float(schedule.temperature(at)) for at in progress])
        name = type(schedule).__name__ if name is None else name
        display = cls(inverse_temperatures, steps=progress, name=name).plot(ax, **kwargs)
        display.ax_.set_xlabel("progress")
        return display

    def plot(self, ax: "Axes | None" = None, **line_kw: Any) -> "TemperatureDisplay":
        """Draw the line, and the band around it if there is one.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **line_kw
            Passed to :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        TemperatureDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_for(self, ax)
        steps = np.arange(1, len(self.inverse_temperatures) + 1) if self.steps is None else self.steps
        local = self.inverse_temperatures.ndim == 2
        middle = self.inverse_temperatures[:, 1] if local else self.inverse_temperatures
        color = CHAIN_COLORS[len(ax.lines) % len(CHAIN_COLORS)]
        style = {"color": color, "linewidth": 2, "label": self.name, **line_kw}
        (self.line_,) = ax.plot(steps, middle, **style)
        self.band_ = None
        if local:
            low, _, high = self.inverse_temperatures.T
            self.band_ = ax.fill_between(steps, low, high, color=self.line_.get_color(), alpha=0.2, linewidth=0)
        ax.set(xlabel="step", ylabel="E[1/T]", ylim=(0, 1.05))
        ax.margins(x=0.01)
        if self.name is not None:
            ax.legend(frameon=False, fontsize="small", loc="lower right")
        tidy(ax)
        return self
