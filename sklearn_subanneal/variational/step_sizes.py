"""Step sizes of stochastic variational inference: the weight of a minibatch in the running statistics."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal.variational.validation import check_number


class StepSize(BaseEstimator):
    """Base of the step sizes: pure functions of a minibatch's number, its place in the run and its size.

    A subclass defines :meth:`step`; it may define :meth:`check`, which is called before a fit.

    Examples
    --------
    >>> from sklearn_subanneal.variational import StepSize
    >>> class Inverse(StepSize):
    ...     def step(self, t, progress, share_of_batch):
    ...         return 1.0 / (t + 1)
    >>> Inverse().checked_step(9, progress=0.0, share_of_batch=0.01)
    0.1
    """

    def step(self, t, progress, share_of_batch):
        """Weight of a minibatch.

        Parameters
        ----------
        t : int
            Number of minibatches before this one.
        progress : float
            Share of the run before this minibatch, in [0, 1].
        share_of_batch : float
            Rows in the minibatch divided by the rows in all.

        Returns
        -------
        step : float in [0, 1]
        """
        raise NotImplementedError(f"{type(self).__name__} must define step(t, progress, share_of_batch)")

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range; by default nothing is checked."""

    def checked_step(self, t: int, progress: float, share_of_batch: float) -> float:
        """:meth:`step` as a float; ValueError unless it is from 0 to 1."""
        step = float(self.step(t, progress, share_of_batch))
        if not 0.0 <= step <= 1.0:
            raise ValueError(f"step_size={self!r} must give steps from 0 to 1, got {step!r} for minibatch {t}")
        return step


class RobbinsMonro(StepSize):
    """Step (offset + t)^-decay of the t-th minibatch, of any size: for streams without a known end.

    Parameters
    ----------
    offset : float, default=1024.0
        At least 1; the larger, the smaller the first steps.
    decay : float, default=0.7
        In (0.5, 1], for which stochastic optimisation converges.

    References
    ----------
    M. Hoffman, D. Blei, C. Wang, J. Paisley (2013), Stochastic variational inference, JMLR 14, equation 26.

    Examples
    --------
    >>> from sklearn_subanneal.variational import RobbinsMonro
    >>> round(float(RobbinsMonro(offset=1.0, decay=1.0).step(3)), 3)
    0.25
    """

    def __init__(self, offset: float = 1024.0, decay: float = 0.7):
        self.offset = offset
        self.decay = decay

    def step(self, t, progress=None, share_of_batch=None) -> np.ndarray:
        """Weight of minibatch ``t`` = 0, 1, ... (array-like); float, same shape. The other arguments are not used."""
        return (self.offset + np.asarray(t, dtype=float)) ** -float(self.decay)

    def check(self) -> None:
        """Raise ValueError if ``offset`` or ``decay`` is out of range."""
        check_number("offset", self.offset, "at least 1, so that no step exceeds 1", lambda x: x >= 1.0)
        check_number("decay", self.decay, "in (0.5, 1], for which the steps converge", lambda x: 0.5 < x <= 1.0)


class PassFraction(StepSize):
    """Step 1 - exp(-c B / D) of a minibatch of B rows among D: each pass keeps a share exp(-c) of the old statistics.

    The size of the minibatches does not matter. c falls by equal factors from ``first`` at the start of the run to
    ``last`` at its end.

    Parameters
    ----------
    first : float, default=2.0
    last : float, default=0.5

    Examples
    --------
    >>> from sklearn_subanneal.variational import PassFraction
    >>> PassFraction(first=2.0, last=0.5).step(0, progress=[0.0, 0.5, 1.0], share_of_batch=0.01).round(4)
    array([0.0198, 0.01  , 0.005 ])
    """

    def __init__(self, first: float = 2.0, last: float = 0.5):
        self.first = first
        self.last = last

    def step(self, t, progress, share_of_batch) -> np.ndarray:
        """Weight of a minibatch at ``progress`` that holds ``share_of_batch`` of the data (array-likes); float."""
        progress = np.clip(np.asarray(progress, dtype=float), 0.0, 1.0)
        passes = self.first * (self.last / self.first) ** progress
        return -np.expm1(-passes * np.asarray(share_of_batch, dtype=float))

    def check(self) -> None:
        """Raise ValueError if ``first`` or ``last`` is out of range."""
        check_number("first", self.first, "positive: smaller is slower", lambda x: x > 0.0)
        check_number("last", self.last, "positive: smaller is slower", lambda x: x > 0.0)


class ConstantStep(StepSize):
    """The same step for all minibatches; 1, by default, is that of batch learning: new statistics replace the old ones.

    Parameters
    ----------
    size : float, default=1.0
        In [0, 1].

    Examples
    --------
    >>> from sklearn_subanneal.variational import ConstantStep
    >>> ConstantStep(0.1).step(7)
    0.1
    """

    def __init__(self, size: float = 1.0):
        self.size = size

    def step(self, t, progress=None, share_of_batch=None) -> float:
        """``size``. The arguments are not used."""
        return self.size

    def check(self) -> None:
        """Raise ValueError if ``size`` is out of range."""
        check_number("size", self.size, "in [0, 1], where 1 forgets all before", lambda x: 0.0 <= x <= 1.0)
