"""Whether a series of a chain still rises: a linear trend against autocorrelated noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

# Fewer values say nothing of a trend.
FEWEST = 10
# So many sweeps at the end of a chain are judged, or half of them if these are more.
JUDGED = 20
# With fewer sweeps nothing is certain: too many of those that are judged are the first after the rows are in.
FEWEST_TO_TELL = 30
# A chain whose trend score is larger still rises. Of 40 sweeps of a stationary chain with an autocorrelation of .5, one
# in 200 is larger, and one in 20 with .9: such a chain makes more sweeps than it needs.
RISING = 3.0
# With fewer sweeps than so many, a chain goes on already if its score is larger than 1: a short rise is seldom
# significant, and what one stationary chain in six does in vain is not much work.
FEW_SWEEPS = 60
MAY_RISE = 1.0
# Estimates of an autocorrelation near 1 are not told from a random walk.
LARGEST_CORRELATION = 0.97


def trend_score(series: ArrayLike) -> float:
    """Slope of a regression on time, divided by its standard error for autoregressive noise of first order.

    About standard normal for a stationary series whose autocorrelation is well below 1. The correlation of successive
    residuals, corrected for its bias, widens the error of independent noise by (1 + r) / (1 - r) (Bartlett, 1946).

    Parameters
    ----------
    series : array-like of shape (n,)

    Returns
    -------
    score : float
        NaN if there are fewer than 10 values; 0 if they are all the same.

    References
    ----------
    M. S. Bartlett (1946), On the theoretical specification and sampling properties of autocorrelated time-series,
    Supplement to the Journal of the Royal Statistical Society 8, 27-41.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.annealing.stationarity import trend_score
    >>> noise = np.random.default_rng(0).normal(size=40)
    >>> bool(abs(trend_score(noise)) < 3 < trend_score(noise + 0.1 * np.arange(40)))
    True
    """
    series = np.asarray(series, float)
    n = len(series)
    if n < FEWEST:
        return np.nan
    series = series - series.mean()
    if not series.any():
        return 0.0
    times = np.arange(n) - (n - 1) / 2.0
    slope = times @ series / (times @ times)
    noise = series - slope * times
    total = noise @ noise
    if total <= 1e-12 * (series @ series):
        return float(np.copysign(np.inf, slope))
    correlation = noise[1:] @ noise[:-1] / total
    # The correction takes those of short series beyond 1 and -1.
    correlation = np.clip(correlation + (1.0 + 4.0 * correlation) / n, -LARGEST_CORRELATION, LARGEST_CORRELATION)
    error = total / (n - 2) / (times @ times) * (1.0 + correlation) / (1.0 - correlation)
    return float(slope / np.sqrt(error))


def full_sweeps(trace: np.ndarray, n_rows: int) -> np.ndarray:
    """The last sweeps of a trace in which all rows were in, and the power of the likelihood was 1."""
    partial = (trace["n_assigned"] != n_rows) | (trace["inverse_temperature"] != 1.0)
    return trace[np.flatnonzero(np.append(True, partial))[-1] :]


def may_rise(trace: np.ndarray, n_rows: int) -> bool:
    """Whether a chain should make more sweeps, since its log joint density rises, or may rise while these are few."""
    log_joint = full_sweeps(trace, n_rows)["log_joint"]
    return _score_at_the_end(log_joint) > (MAY_RISE if len(log_joint) < FEW_SWEEPS else RISING)


def rise_score(trace: np.ndarray, n_rows: int) -> float:
    """Trend score of the last full sweeps of a chain: half of them, or 20; NaN if there are fewer than 30."""
    log_joint = full_sweeps(trace, n_rows)["log_joint"]
    return _score_at_the_end(log_joint) if len(log_joint) >= FEWEST_TO_TELL else np.nan


def _score_at_the_end(log_joint: np.ndarray) -> float:
    return trend_score(log_joint[-max(len(log_joint) - len(log_joint) // 2, JUDGED) :])
