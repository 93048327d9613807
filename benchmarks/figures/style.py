"""A common look of the figures."""

from __future__ import annotations

from itertools import cycle

from _common import pyplot

from sklearn_subanneal.plotting.style import CHAIN_COLORS, tidy

LINE = {"linewidth": 1.6, "markersize": 4.5, "markeredgecolor": "white", "markeredgewidth": 0.6}
# Ratio of the ends of a logarithmic axis from which it has powers of ten alone.
MANY = 200


def subplots(n_rows: int, n_columns: int, size: tuple[float, float], **options):
    """A figure and its axes (n_rows, n_columns), without frames."""
    figure, axes = pyplot().subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False, **options)
    for ax in axes.flat:
        tidy(ax)
        ax.grid(axis="y", color="#E6E6E6", linewidth=0.8)
        ax.set_axisbelow(True)
    return figure, axes


def colors(names) -> dict[str, str]:
    """A colour for each name."""
    return dict(zip(names, cycle(CHAIN_COLORS), strict=False))


def log_scale(ax, *sides: str) -> None:
    """Logarithmic axes of what was drawn, "x" or "y", with numbers as one would write them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for side in sides:
        axis = getattr(ax, f"{side}axis")
        getattr(ax, f"set_{side}scale")("log")
        low, high = axis.get_data_interval()
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < MANY * low else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axis.set_minor_formatter(NullFormatter())


def ticks_at(ax, side: str, values) -> None:
    """A logarithmic axis with these numbers on it, and no others."""
    log_scale(ax, side)
    getattr(ax, f"set_{side}ticks")(values, [f"{value:,.10g}" for value in values])
    getattr(ax, f"set_{side}ticks")([], minor=True)


def title(ax, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=10)


def legend_below(figure, handles: dict) -> None:
    """One legend for all panels, of handles by their labels."""
    figure.legend(handles.values(), handles, frameon=False, loc="outside lower center", ncols=min(len(handles), 5))


def images(cells, values, side: int, low: float, high: float, label: str) -> None:
    """A row of square grey images; cells for which there is none stay empty."""
    for cell in cells:
        cell.set(xticks=[], yticks=[])
        cell.grid(visible=False)
        tidy(cell, "top", "right", "bottom", "left")
    for cell, image in zip(cells, values, strict=False):
        pixels = [image[row * side : (row + 1) * side] for row in range(side)]
        cell.imshow(pixels, cmap="gray", vmin=low, vmax=high)
    cells[0].set_ylabel(label, rotation=0, ha="right", va="center", fontsize="small")
