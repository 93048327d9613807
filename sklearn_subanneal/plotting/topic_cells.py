"""Cells of a display of topics: where they are, and what is drawn in each."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.plotting.style import (
    BAR_COLOR,
    CHAIN_COLORS,
    DARK,
    LARGEST_FONT,
    SHADE,
    SMALLEST_FONT,
    pitch,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sklearn_subanneal.topics import Prevalence

FAINT = "#777777"
_POINTS_PER_INCH = 72.0
# Shares of the width of a column that its cell has, and that the number beside a bar has.
_CELL, _NUMBER = 0.9, 0.2
# Heights in lines: of the heading, of the curve of a prevalence, of the gaps around it and below a cell.
_HEADING, _CURVE, _BEFORE, _AFTER, _GAP = 2.1, 4.5, 0.4, 1.0, 1.2
# The share of its height that a curve has; the number of its highest value is above.
_RISE = 0.75
# A new figure: inches of a column, a line and the margins.
_COLUMN, _LINE, _MARGIN = 1.75, 0.185, 0.15
# Sizes of text as shares of a line, and the mean width of a letter as a share of the size; words become smaller by a
# third before they are cut.
_FONT_OF_LINE, _LETTER, _SMALLER = 0.72, 0.58, 0.67
# Columns for the shape of a landscape page, and the fewest.
_WIDE, _FEWEST_COLUMNS = 1.5, 6
# The scale of a curve is that of groups of so many documents, if there are any: others have means of large errors.
_DOCUMENTS_FOR_SCALE = 10


@dataclass(frozen=True)
class CellGrid:
    """A grid of equal cells, one for each topic, from left to right and from top to bottom.

    The coordinates of the axes are columns, and lines of text from the top.

    Attributes
    ----------
    n_topics, n_words : int
    n_labels : int
        Lines of labels below the words; 0: none.
    has_curve : bool
        Whether there is a curve below the words.
    n_columns : int
    """

    n_topics: int
    n_words: int
    n_labels: int
    has_curve: bool
    n_columns: int

    @classmethod
    def of(cls, n_topics: int, n_words: int, prevalence: Prevalence | None, n_columns: int | None) -> CellGrid:
        """The grid for so many topics; ``n_columns`` None makes it somewhat wider than high."""
        has_curve = prevalence is not None and prevalence.is_continuous
        n_labels = 0 if prevalence is None or has_curve else len(prevalence.groups)
        grid = cls(n_topics, n_words, n_labels, has_curve, 1)
        if n_columns is None:
            height = _LINE * grid.lines
            n_columns = int(
                np.clip(round((_WIDE * n_topics * height / _COLUMN) ** 0.5), min(_FEWEST_COLUMNS, n_topics), n_topics)
            )
            # As few empty cells as this number of rows allows.
            n_columns = -(-n_topics // -(-n_topics // n_columns))
        return cls(n_topics, n_words, n_labels, has_curve, min(n_columns, n_topics))

    @property
    def n_rows(self) -> int:
        return -(-self.n_topics // self.n_columns)

    @property
    def lines(self) -> float:
        """Lines of a cell with the gap below it."""
        below = _BEFORE + _CURVE + _AFTER if self.has_curve else (_BEFORE + self.n_labels if self.n_labels else 0.0)
        return _HEADING + self.n_words + below + _GAP

    def place(self, number: int) -> tuple[float, float]:
        """Left and top of a cell."""
        return number % self.n_columns, (number // self.n_columns) * self.lines

    def fit(self, ax: Axes, note: str, is_new: bool) -> None:
        """Set the limits of the axes, with a note below; those of a new figure fill it, as large as the grid needs."""
        width, height = _COLUMN * self.n_columns, _LINE * self.lines * self.n_rows
        if not is_new:
            width = pitch(ax.xaxis, 1) / _POINTS_PER_INCH
        note = textwrap.wrap(note, max(int(width * _POINTS_PER_INCH / (_LETTER * LARGEST_FONT)), 1))
        if is_new:
            below = _LINE * (len(note) + 0.5) + _MARGIN
            whole = width + 2 * _MARGIN, height + _MARGIN + below
            ax.figure.set_layout_engine("none")
            ax.figure.set_size_inches(*whole)
            ax.set_position([_MARGIN / whole[0], below / whole[1], width / whole[0], height / whole[1]])
        ax.set(xlim=(0, self.n_columns), ylim=(self.lines * self.n_rows, 0), xticks=[], yticks=[])
        ax.set_xlabel("\n".join(note), color=FAINT, fontsize=LARGEST_FONT, loc="left")
        tidy(ax, "top", "right", "bottom", "left")

    def inset(self, ax: Axes, number: int) -> Axes:
        """Axes below the words of a cell."""
        left, top = self.place(number)
        top += _HEADING + self.n_words + _BEFORE
        height, total = (_CURVE if self.has_curve else self.n_labels), self.lines * self.n_rows
        return ax.inset_axes(
            [left / self.n_columns, 1.0 - (top + height) / total, _CELL / self.n_columns, height / total]
        )


class CellWriter:
    """Writes in the cells of a grid on axes, in fonts that fit."""

    def __init__(self, ax: Axes, grid: CellGrid) -> None:
        self.ax = ax
        self.grid = grid
        self.column = pitch(ax.xaxis, grid.n_columns)
        line = pitch(ax.yaxis, 1) / (grid.lines * grid.n_rows)
        self.font = float(np.clip(_FONT_OF_LINE * line, SMALLEST_FONT, LARGEST_FONT))

    def write(self, x, y, string: str, width: float, ax: Axes | None = None, cut: bool = True, **text_kw):
        """Text in a part of so many columns: if it is longer, in a smaller font, and then, unless told not to, cut."""
        style = {"fontsize": self.font, "va": "center", "color": DARK, **text_kw}
        # A dollar sign in a word begins no formula.
        text = (ax or self.ax).text(x, y, string, parse_math=False, **style)
        room, size = width * self.column, style["fontsize"]
        least = max(_SMALLER * size, SMALLEST_FONT)
        # In steps, since widths are not proportional to sizes: letters are fitted to pixels.
        while _width(text) > room and size > least:
            size = max(0.96 * size, least)
            text.set_fontsize(size)
        while cut and _width(text) > room and len(string) > 1:
            string = string[:-1]
            text.set_text(f"{string}…")
        return text

    def heading(self, number: int, title: str, detail: str, size: float):
        """The title and a detail above a line, of which the part ``size`` is dark."""
        left, top = self.grid.place(number)
        title = self.write(left, top + 0.75, title, 0.38, weight="bold", fontsize=1.05 * self.font)
        detail = self.write(left + _CELL, top + 0.75, detail, 0.53, ha="right", cut=False, fontsize=0.8 * self.font)
        for length, color in ((1.0, SHADE), (size, DARK)):
            self.ax.barh(top + 1.6, _CELL * length, left=left, height=0.22, color=color)
        return title, detail

    def words(self, number: int, words: NDArray, probabilities: NDArray, bar_kw: dict):
        """Words on bars, which are proportional to probabilities, and the probabilities beside them."""
        left, top = self.grid.place(number)
        lines = top + _HEADING + 0.5 + np.arange(len(words))
        style = {"color": BAR_COLOR, "alpha": 0.5, "height": 0.86, **bar_kw}
        probabilities, width = probabilities.astype(np.float64), _CELL - _NUMBER
        bars = self.ax.barh(lines, width * probabilities / probabilities.max(), left=left, **style)
        texts = [
            self.write(left + 0.02, line, str(word), width - 0.02) for line, word in zip(lines, words, strict=True)
        ]
        small = {"ha": "right", "cut": False, "color": FAINT, "fontsize": 0.8 * self.font}
        for line, probability in zip(lines, probabilities, strict=True):
            self.write(left + _CELL, line, percent(probability), _NUMBER, **small)
        return bars, texts

    def prevalence(self, number: int, found: Prevalence, topic: int) -> Axes:
        """Mean proportions of a topic, its column in ``found``, as a curve or as points beside labels."""
        inset = self.grid.inset(self.ax, number)
        inset.patch.set_visible(False)
        means, errors = found.means[:, topic], found.standard_errors[:, topic]
        (self._curve if found.is_continuous else self._points)(inset, found, means, errors)
        return inset

    def _curve(self, inset, found, means, errors):
        # The mean of one document has no error: it could not be told from chance.
        means = np.where(found.n_documents > 1, means, np.nan)
        many = found.n_documents >= _DOCUMENTS_FOR_SCALE
        highest = _highest(*(part[many] if many.any() else part for part in (means, errors)))
        color = CHAIN_COLORS[0]
        inset.plot(found.groups, means, color=color, linewidth=1.2, marker=".", markersize=3.5, markeredgewidth=0)
        inset.fill_between(found.groups, means - errors, means + errors, color=color, alpha=0.2, linewidth=0)
        inset.axhline(highest, color=SHADE, linewidth=0.8, zorder=0)
        inset.set_ylim(0.0, highest / _RISE)
        ends = found.groups[[0, -1]]
        inset.set_xticks(ends, [period_name(end, found.period) for end in ends])
        for label, side in zip(inset.get_xticklabels(), ("left", "right"), strict=True):
            label.set_horizontalalignment(side)
        inset.set_yticks([])
        inset.tick_params(length=2, pad=1, labelsize=0.8 * self.font, color=FAINT, labelcolor=FAINT)
        tidy(inset, "top", "right", "left")
        inset.spines["bottom"].set_color(FAINT)
        small = {"fontsize": 0.8 * self.font, "color": FAINT, "va": "bottom"}
        self.write(0.0, 1.02 * _RISE, percent(highest), _CELL, ax=inset, transform=inset.transAxes, **small)

    def _points(self, inset, found, means, errors):
        lines = np.arange(len(means))
        # The points have the middle of the cell: labels are at its left, and numbers at its right.
        first, last = 0.52, 1.0 - _NUMBER / _CELL
        scale = (last - first) / _highest(means, errors)
        inset.barh(lines, scale * means, left=first, height=0.6, color=CHAIN_COLORS[0], alpha=0.25)
        style = {"fmt": ".", "color": CHAIN_COLORS[0], "markersize": 4, "elinewidth": 1.0}
        inset.errorbar(first + scale * means, lines, xerr=scale * np.nan_to_num(errors), **style)
        small = {"ax": inset, "fontsize": 0.8 * self.font}
        room = (first - 0.02) * _CELL
        labels = [
            self.write(0.0, line, str(label), room, **small) for line, label in zip(lines, found.groups, strict=True)
        ]
        smallest = min(label.get_fontsize() for label in labels)
        for line, label, mean in zip(lines, labels, means, strict=True):
            label.set_fontsize(smallest)
            self.write(1.0, line, percent(mean), _NUMBER, color=FAINT, ha="right", cut=False, **small)
        inset.set(xlim=(0.0, 1.0), ylim=(len(means) - 0.5, -0.5), xticks=[], yticks=[])
        tidy(inset, "top", "right", "bottom", "left")


def _highest(means, errors) -> float:
    """The upper end of the largest mean with its error; 1 if all are 0."""
    return float(np.nanmax(means + np.nan_to_num(errors))) or 1.0


def percent(share: float) -> str:
    """A share in two digits, such as 12%, 1.2% and 0.12%."""
    if share >= 0.0995:
        return f"{share:.0%}"
    return f"{share:.1%}" if share >= 0.00995 else f"{share:.2%}"


def period_name(start, period: str | None) -> str:
    """The name of the period that begins on this day, or of a number."""
    if period is None:
        return f"{start:g}"
    year, month = str(start)[:-6], int(str(start)[-5:-3])
    names = {"year": year, "quarter": f"{year} Q{(month + 2) // 3}", "month": f"{year}-{month:02}"}
    return names.get(period, str(start))


def _width(text) -> float:
    """Width of a text in points."""
    return text.get_window_extent().width / text.figure.dpi * _POINTS_PER_INCH
