"""The display of the temperatures that variational inference went through."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.style import CHAIN_COLORS, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TemperatureDisplay:
    """E[1/T] at every step of a fit; with local temperatures its median and its 5 % and 95 % quantiles over documents.

    Make it by :meth:`from_estimator`.

    Parameters
    ----------
    inverse_temperatures : ndarray of shape (n_steps,) or (n_steps, 3)
        E[1/T], or its three quantiles.
    name : str, default=None
        What is cooled, for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        E[1/T], or its median.
    band_ : matplotlib FillBetweenPolyCollection or None
        What is between the other two quantiles, where there are any.
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

    def __init__(self, inverse_temperatures: NDArray, *, name: str | None = None) -> None:
        self.inverse_temperatures = inverse_temperatures
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, name: str | None = None, ax: "Axes | None" = None, **kwargs: Any
    ) -> "TemperatureDisplay":
        """Plot the temperatures of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With `temperatures_`.
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
        if not hasattr(estimator, "temperatures_"):
            raise ValueError(f"estimator must have temperatures_, {type(estimator).__name__} has none; fit it first.")
        name = getattr(estimator, "tempering", None) if name is None else name
        return cls(np.asarray(estimator.temperatures_), name=name).plot(ax, **kwargs)

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
        steps = np.arange(1, len(self.inverse_temperatures) + 1)
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
