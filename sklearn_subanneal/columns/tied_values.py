"""TiedValues: a transformation after which values that repeat are about as dense as the cells around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.columns.transforms import Transform

# Values count as tied if the distinct values of their column are at most this share of its cells, ...
MOST_DISTINCT = 0.9
# ... and if so many cells have their value: it takes that many to form clusters of single values.
FEWEST = 5
# Quantiles between which the average density of a column is taken: outliers do not count.
INNER = 0.1, 0.9
# A span is at most this share of the range that all cells have at this density: distances must keep their meaning.
WIDEST = 0.05
# Values that differ by less than this share of the largest one are the same but for rounding.
ROUNDING = 1e-13
# The numbers beside a tied value that are not nearest to it are as probable as this many cells more.
UNSEEN = 0.5
# This share of the images is evenly spaced by rank, so that no two are equal.
EVEN = 0.01


@dataclass(frozen=True, eq=False)
class TiedValues(Transform):
    """An increasing, piecewise linear function T(u(x)) of a cell x that stretches where values repeat.

    At least five cells have a *tied* value. It stands for its *interval*: the numbers that are nearer to it than to the
    other values of the column, but at most the range that as many cells have at the average density of the column. Its
    *span* is this range around the value, but at most a twentieth of the range that all cells have at this density, and
    at least the interval. If a rare value is close to a frequent one, the interval is far shorter than the span, and
    the density of the column there is far above the average. A cluster of the cells of such a value then gains by this
    density alone, whatever the other columns are, so that clusters would be those of single values.

    The cells of each tied value are therefore thought to be spaced evenly over its span, those of rare values over
    their intervals, and T maps the cells of the column, in their order, to these places, in theirs: intervals of tied
    values are stretched, and the gaps between them shrink. Outside all spans T is the identity, and nowhere does it
    move a cell by more than the length of the spans there. It is a function of the column, the same in all clusters;
    its slope enters every density, which so remains one of the cells in the units of the data. A tied value is in the
    middle of the image of its interval, and the slope is that of the whole interval, as if the probability of the image
    were spread evenly.

    Where tied values are hardly denser than others, as in a column that was rounded, the stretches would only fit the
    chance by which one value is more frequent than the next. Intervals are stretched only if the mean of log T' over
    the training cells, each left out of the counts of its interval, is above 0. If they are not, T is the identity, and
    an interval is as long to both sides of its value as it is to the nearer one.

    Training cells of a tied value are *jittered* (Denuit and Lambert 2005), that is, spaced evenly over the image of
    its interval: a normal distribution would else shrink to the value, where its density is unbounded. Draws in this
    image are the value.

    Attributes
    ----------
    base : Transform
        The function u.
    knots, images : ndarray of shape (n_knots,)
        Values of u, ascending, and T of them; linear in between.
    losses : ndarray of shape (n_knots - 1,)
        What log T' between two knots would be less by without one of the cells there, at most 0.
    starts : ndarray of int, shape (n_tied,)
        The interval of a tied value begins at this knot; the next one is the value, and the one after it the end.
    tied : ndarray of shape (n_tied,)
        The values, in the units of the data.

    References
    ----------
    M. Denuit, P. Lambert (2005), Constraints on concordance measures in bivariate discrete data, Journal of
    Multivariate Analysis 93, 40-57 (section 2: continued random variables). doi:10.1016/j.jmva.2004.01.004
    """

    base: Transform
    knots: np.ndarray
    images: np.ndarray
    losses: np.ndarray
    starts: np.ndarray
    tied: np.ndarray

    @property
    def lowest(self) -> float:
        return self.base.lowest

    def forward(self, cells):
        u = self.base.forward(cells)
        return u + np.interp(u, self.knots, self.images - self.knots)

    def inverse(self, values):
        return self.base.inverse(self._original(values))

    def log_slope(self, values):
        rises, runs = np.diff(self.images), np.diff(self.knots)
        for steps in (rises, runs):
            steps[self.starts] += steps[self.starts + 1]
            steps[self.starts + 1] = steps[self.starts]
        slopes = np.concatenate([[0.0], np.log(rises / runs), [0.0]])
        return self.base.log_slope(self._original(values)) + slopes[np.searchsorted(self.images, values)]

    def left_out_loss(self, values: np.ndarray) -> np.ndarray:
        """What is added to ``log_slope`` at the values of T of training cells, each left out of the others' counts."""
        return np.concatenate([[0.0], self.losses, [0.0]])[np.searchsorted(self.images, values)]

    def _original(self, values):
        """The u of which T is ``values``."""
        return values - np.interp(values, self.images, self.images - self.knots)

    def jittered(self, values: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Values of T, those of each tied value spaced evenly over the image of its interval, in random order."""
        out = np.array(values)
        # Another order in each column: in equal orders, columns that repeat in the same rows would become collinear.
        rows = generator.permutation(len(out))
        interval = self._interval(out[rows])
        rows, interval = rows[interval >= 0], interval[interval >= 0]
        order = np.argsort(interval, kind="stable")
        rows, interval = rows[order], interval[order]
        counts = np.bincount(interval, minlength=len(self.starts))
        place = evenly_spaced(self.images[self.starts], self.images[self.starts + 2], counts)
        out[rows] = place
        return out

    def snapped(self, values: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """The cells of drawn values of T, with the tied value itself where one is in the image of its interval."""
        interval = self._interval(values)
        return np.where(interval >= 0, self.tied[interval], cells)

    def image_end(self, cell: float, includes: bool) -> float | None:
        """Where the numbers above a cell begin: the end of an image of an interval; None if the cell is in no interval.

        ``includes``: whether the cell itself is one of these numbers.
        """
        if not self.lowest < cell < np.inf:
            return None
        image = self.forward(np.array([cell]))
        (interval,) = self._interval(image)
        if interval < 0:
            return None
        value = self.tied[interval]
        is_above = value > cell or (includes and value == cell)
        return float(self.images[self.starts[interval] + (0 if is_above else 2)])

    def _interval(self, values):
        """Index of the tied value in the image of whose interval each value of T is; -1: none."""
        at = np.searchsorted(self.images, values) - 1
        index = np.searchsorted(self.starts, at, side="right") - 1
        return np.where((index >= 0) & (at - self.starts[index] < 2), index, -1)


def spread_ties(base: Transform, cells: np.ndarray) -> Transform:
    """The function of the cells of a column that stretches where values repeat.

    Parameters
    ----------
    base : Transform
        The transformation without regard to ties.
    cells : ndarray of shape (n_rows,)
        Training cells in the units of the data, NaN where missing.

    Returns
    -------
    transform : Transform
        ``base`` itself if no value is tied.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.tied_values import spread_ties
    >>> from sklearn_subanneal.columns.transforms import IDENTITY
    >>> prices = np.concatenate([np.linspace(1.0, 99.0, 40), np.repeat([49.99, 49.95], 20)])
    >>> transform = spread_ties(IDENTITY, prices)
    >>> transform.forward(np.array([10.0, 49.95, 49.99, 90.0])).round(1).tolist()
    [10.0, 49.1, 50.8, 90.0]
    """
    seen = np.sort(cells[~np.isnan(cells)])
    values, n = base.forward(seen), len(seen)
    if n < FEWEST:
        return base
    rounding = ROUNDING * np.abs(values[[0, -1]]).max()
    first = np.append(0, np.flatnonzero(np.diff(values) > rounding) + 1)
    counts = np.diff(np.append(first, n))
    is_tied = counts >= FEWEST
    if not 1 < len(first) <= MOST_DISTINCT * n or not is_tied.any():
        return base
    # Of equal cells, whatever their last digits are, the one in the middle.
    middle = first + counts // 2
    low, high, tied = values[first], values[first + counts - 1], values[middle]
    average = _average_distance(values, tied, rounding)
    most = 0.5 * average * counts
    between = 0.5 * (high[:-1] + low[1:])
    # At the ends of the column, an interval is as long to the one side as to the other.
    begins = np.maximum(np.append(low[0] - (between[0] - high[0]), between), low - most)
    stops = np.minimum(np.append(between, high[-1] + (low[-1] - between[-1])), high + most)
    most = np.minimum(most, 0.5 * WIDEST * n * average)
    spans = (
        np.where(is_tied, np.minimum(begins, low - most), begins),
        np.where(is_tied, np.maximum(stops, high + most), stops),
    )
    places = np.sort(evenly_spaced(*spans, counts))
    edges = _regions(spans[0][is_tied], spans[1][is_tied])
    begins, stops, tied = begins[is_tied], stops[is_tied], tied[is_tied]
    if not ((begins < tied) & (tied < stops)).all():
        # Floating point does not resolve the intervals.
        return base
    ranks = np.concatenate([np.searchsorted(places, edges), *_ranks(begins, stops, first[is_tied], counts[is_tied])])
    images = _images(ranks, places, ranks[: len(edges)], edges)
    # The ends of regions stay where they are.
    knots, at = np.unique(np.concatenate([edges, begins, stops]), return_index=True)
    images = np.where(at < len(edges), knots, images[at])
    if not (np.diff(images) > 0.0).all():
        return base
    starts = np.searchsorted(knots, begins)
    counts, losses = _left_out_losses(values, knots, starts)
    if counts @ (np.log(np.diff(images) / np.diff(knots)) + losses) > 0.0:
        # Between regions nothing is stretched.
        losses[np.searchsorted(knots, edges[1:-1:2])] = 0.0
        losses = np.insert(losses, starts + 1, losses[starts])
        images = np.insert(images, starts + 1, 0.5 * (images[starts] + images[starts + 1]))
        knots = np.insert(knots, starts + 1, tied)
    else:
        # The value is in the middle of its interval, and nothing is stretched.
        half = np.minimum(tied - begins, stops - tied)
        knots = images = np.unique(np.concatenate([tied - half, tied, tied + half]))
        losses = np.zeros(len(knots) - 1)
    starts = np.searchsorted(knots, tied) - 1
    return TiedValues(base, knots, images, losses, starts, seen[middle[is_tied]])


def _average_distance(values, distinct, rounding):
    """Of neighbours in a column, without outliers; of its values, if most cells have the same."""
    for some in (values, distinct):
        ends = np.quantile(some, INNER)
        if ends[1] - ends[0] > rounding:
            return (ends[1] - ends[0]) / ((INNER[1] - INNER[0]) * len(values))
    return (values[-1] - values[0]) / len(values)


def _ranks(begins, stops, before, counts):
    """How many cells are below the ends of the intervals of tied values, of which some cells are below the first."""
    # Two intervals that meet have nothing between them.
    meet = np.append(stops[:-1] >= begins[1:], False)
    first = before + np.where(np.append(False, meet[:-1]), 0.0, 0.5 * UNSEEN)
    return first, before + counts - np.where(meet, 0.0, 0.5 * UNSEEN)


def evenly_spaced(low: np.ndarray, high: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """So many numbers, evenly spaced, in each of some intervals, one interval after the other."""
    rank = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(low, counts) + (rank + 0.5) / np.repeat(counts, counts) * np.repeat(high - low, counts)


def _regions(low, high):
    """The ends of the unions of intervals that overlap, one after the other."""
    order = np.argsort(low)
    low, top = low[order], np.maximum.accumulate(high[order])
    new = np.append(True, low[1:] > top[:-1])
    return np.column_stack([low[new], top[np.append(new[1:], True)]]).ravel()


def _images(ranks, places, edge_ranks, edges):
    """Where numbers go that have so many cells below them; each region is mapped onto itself."""
    known_ranks = np.concatenate([np.arange(len(places)) + 0.5, edge_ranks])
    known = np.concatenate([places, edges])
    order = np.lexsort((known, known_ranks))
    even = np.interp(ranks, edge_ranks, edges)
    return (1.0 - EVEN) * np.interp(ranks, known_ranks[order], known[order]) + EVEN * even


def _left_out_losses(values, knots, starts):
    """Numbers of cells between knots, and what the log slope there would be less by without one of them."""
    counts = np.diff(np.searchsorted(values, knots))
    total = counts + UNSEEN
    total[starts] -= UNSEEN
    return counts, np.log1p(-1.0 / np.where(counts > 0, total, np.inf))
