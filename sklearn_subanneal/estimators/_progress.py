"""Telling scikit-learn's callbacks of a fit in steps."""

from __future__ import annotations

from contextlib import contextmanager


@contextmanager
def steps_told(estimator, X, n_steps: int, name: str):
    """A fit of at most ``n_steps`` steps, told to the callbacks of the estimator.

    Parameters
    ----------
    estimator : estimator within a method that has callbacks
    X : object
        What it is fitted to, for callbacks that ask.
    n_steps : int
    name : str
        What a step is called.

    Yields
    ------
    tell : callable
        To be called after each step with its trace record (dict) and a function that gives the attributes that make
        the estimator a fitted one; a True result asks to end the fit.
    """
    root = estimator._init_callback_context(max_subtasks=n_steps, sequential_subtasks=True)
    root.call_on_fit_task_begin(estimator=estimator, X=X)

    # Tasks that nobody hears of would take more time than the steps of small data.
    heard = bool(getattr(estimator, "_skl_callbacks", []))

    def tell(record, attributes):
        if not heard:
            return False
        task = root.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=estimator, X=X)
        return task.call_on_fit_task_end(
            estimator=estimator, X=X, metadata={"trace": record}, reconstruction_attributes=attributes
        )

    yield tell
    root.call_on_fit_task_end(estimator=estimator, X=X)
