"""CalibrationDisplay: distribution functions of the ranks of simulation-based calibration, with simultaneous bands."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.diagnostics import CalibrationResult
from sklearn_subanneal.diagnostics.rank_uniformity import simultaneous_bands
from sklearn_subanneal.plotting.style import CHAIN_COLORS, DARK, SHADE, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CalibrationDisplay:
    """Differences of the distribution functions of ranks from that of uniform ranks.

    Make it by :meth:`from_result`. A curve that leaves the band shows a wrong posterior: one that rises at first and
    falls at last one that is too narrow, one above 0 everywhere draws that are too large.

    Parameters
    ----------
    names : tuple of str
        The statistics.
    differences : ndarray of shape (n_statistics, n_ranks - 1)
        Of the shares of ranks that are at most 0, 1, ..., from those of uniform ranks.
    lower, upper : ndarray of shape (n_ranks - 1,)
        The band.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        One for each statistic; those that leave the band are coloured and named.
    ax_ : matplotlib Axes
        The axes with the curves.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import CalibrationResult
    >>> from sklearn_subanneal.plotting import CalibrationDisplay
    >>> ranks = np.random.default_rng(0).integers(10, size=(300, 2)) // [1, 2]
    >>> display = CalibrationDisplay.from_result(CalibrationResult(("right", "wrong"), ranks, n_draws=9))
    >>> display.outside().tolist()
    [False, True]
    """

    def __init__(self, names: tuple[str, ...], differences: NDArray, lower: NDArray, upper: NDArray) -> None:
        self.names = names
        self.differences = differences
        self.lower = lower
        self.upper = upper

    @classmethod
    def from_result(
        cls, result: CalibrationResult, *, level: float = 0.95, ax: "Axes | None" = None, **kwargs: Any
    ) -> "CalibrationDisplay":
        """Plot the outcome of a calibration.

        Parameters
        ----------
        result : CalibrationResult
            As :func:`sklearn_subanneal.diagnostics.calibrate` returns it.
        level : float, default=0.95
            The probability with which all curves lie in the band if all ranks are uniform, at least; in (0, 1).
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        CalibrationDisplay

        Raises
        ------
        ValueError
            If `level` is not in (0, 1).
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must be in (0, 1), got {level}.")
        n_ranks, n = result.n_draws + 1, len(result.ranks)
        counts = (result.ranks[:, :, None] <= np.arange(n_ranks - 1)).sum(axis=0)
        uniform = np.arange(1, n_ranks) / n_ranks
        lower, upper = simultaneous_bands(n, n_ranks, 1.0 - (1.0 - level) / len(result.names))
        return cls(result.names, counts / n - uniform, lower / n - uniform, upper / n - uniform).plot(ax, **kwargs)

    def outside(self) -> NDArray[np.bool_]:
        """Whether the curve of each statistic leaves the band."""
        # Both are counts divided by the same number: half a count would be far more than this.
        return ((self.differences < self.lower - 1e-9) | (self.differences > self.upper + 1e-9)).any(axis=1)

    def plot(self, ax: "Axes | None" = None, **line_kw: Any) -> "CalibrationDisplay":
        """Draw the curves and the band.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **line_kw
            Passed to :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        CalibrationDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_for(self, ax)
        places = np.arange(1, len(self.lower) + 1) / (len(self.lower) + 1)
        ax.fill_between(places, self.lower, self.upper, color=SHADE, linewidth=0.0)
        ax.axhline(0.0, color=DARK, linewidth=0.6)
        self.lines_, n_named = [], 0
        for name, curve, is_outside in zip(self.names, self.differences, self.outside(), strict=True):
            style = {"color": "0.6", "linewidth": 0.8}
            if is_outside:
                color = CHAIN_COLORS[n_named % len(CHAIN_COLORS)]
                style, n_named = {"color": color, "linewidth": 1.5, "label": name}, n_named + 1
            self.lines_ += ax.plot(places, curve, **{**style, **line_kw})
        if n_named:
            ax.legend(frameon=False, fontsize="small")
        ax.set(xlabel="rank / (number of draws + 1)", ylabel="difference from uniform ranks", xlim=(0.0, 1.0))
        tidy(ax)
        return self
