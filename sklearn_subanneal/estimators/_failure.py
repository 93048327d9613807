"""Restoring an estimator whose fit fails or is interrupted."""

from __future__ import annotations

from contextlib import contextmanager

# By these attributes scikit-learn tears callbacks down after a fit, a failed one as well.
TEAR_DOWN = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


@contextmanager
def unchanged_on_failure(estimator):
    """An estimator whose fit fails, or is interrupted, stays as it was: not fitted, or fitted as by the fit before."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        needed = {name: value for name, value in vars(estimator).items() if name in TEAR_DOWN}
        vars(estimator).clear()
        vars(estimator).update(before | needed)
        raise
