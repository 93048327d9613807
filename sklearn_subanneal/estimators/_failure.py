"""What a fit that does not come to its end leaves behind."""

from __future__ import annotations

from contextlib import contextmanager


@contextmanager
def unchanged_on_failure(estimator):
    """An estimator whose fit fails, or is interrupted, stays as it was: not fitted, or fitted as by the fit before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
