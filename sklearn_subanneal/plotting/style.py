"""What all displays share: axes to draw on and a common look."""

from typing import TYPE_CHECKING, Any

from sklearn.utils._optional_dependencies import check_matplotlib_support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, told apart by colour-blind readers too; its yellow is too light for lines.
CHAIN_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BAR_COLOR = "#56B4E9"
DARK = "#333333"
SHADE = "#EEEEEE"


def axes_for(display: Any, ax: "Axes | None") -> "Axes":
    """The axes to draw on, of a new figure if there are none yet; raise ImportError without matplotlib."""
    check_matplotlib_support(f"{type(display).__name__}.plot")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def tidy(ax: "Axes", *sides: str) -> None:
    """Take away the frame lines that carry no scale."""
    for side in sides or ("top", "right"):
        ax.spines[side].set_visible(False)
