"""Axes, colours, frames and tick labels shared by all displays."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from sklearn_subanneal.plotting.checks import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The palette of Okabe and Ito, which colour-blind readers can distinguish; its yellow is too light for lines.
CHAIN_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BAR_COLOR = "#56B4E9"
DARK = "#333333"
SHADE = "#EEEEEE"
# Sizes of text in points.
SMALLEST_FONT, LARGEST_FONT = 4.5, 9.0
_POINTS_PER_INCH = 72.0


def axes_for(display: Any, ax: "Axes | None") -> "Axes":
    """Set `ax_` and `figure_` of a display and return the axes, of a new figure if `ax` is None.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    require_matplotlib(f"{type(display).__name__}.plot")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def tidy(ax: "Axes", *sides: str) -> None:
    """Remove the lines of the frame on these sides, by default at the top and at the right."""
    for side in sides or ("top", "right"):
        ax.spines[side].set_visible(False)


def pitch(axis, n_places: int) -> float:
    """Length in points of one of `n_places` equal parts of an axis."""
    box = axis.axes.get_window_extent()
    pixels = box.width if axis.axis_name == "x" else box.height
    return pixels / axis.axes.figure.dpi * _POINTS_PER_INCH / n_places


def fit_names(axis, places: ArrayLike, names: Sequence[str], n_places: int):
    """Label places along an axis of `n_places` equal parts in the largest font that fits; none if that is too small."""
    size = min(0.85 * pitch(axis, n_places), LARGEST_FONT)
    if size < SMALLEST_FONT:
        axis.set_ticks([])
        return
    # Names from data are no formulas.
    axis.set_ticks(places, names, parse_math=False)
    axis.set_tick_params(length=0, labelsize=size)
    if axis.axis_name == "x":
        axis.set_tick_params(rotation=90)
