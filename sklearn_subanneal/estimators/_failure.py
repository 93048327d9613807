"""Restoration of an estimator's attributes after a fit that failed or was interrupted."""

from __future__ import annotations

from contextlib import contextmanager

# By these attributes scikit-learn tears callbacks down after a fit, a failed one as well.
TEAR_DOWN = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


@contextmanager
def unchanged_on_failure(estimator, failures=BaseException):
    """Restore the attributes from before ``fit`` (unfitted, or of the previous fit) if it fails or is interrupted.

    ``failures``: an exception, or a tuple of some, after which to do so.
    """
    before = dict(vars(estimator))
    try:
        yield
    except failures:
        needed = {name: value for name, value in vars(estimator).items() if name in TEAR_DOWN}
        vars(estimator).clear()
        vars(estimator).update(before | needed)
        raise
