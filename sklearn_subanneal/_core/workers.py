"""The number of workers that the parameter ``n_jobs`` stands for."""

from __future__ import annotations

from joblib import effective_n_jobs

from sklearn_subanneal._core.arguments import shortened


def n_workers(n_jobs: int | None) -> int:
    """Workers that joblib's present backend gives.

    Parameters
    ----------
    n_jobs : int or None
        As scikit-learn's: None is 1 unless :func:`joblib.parallel_config` says otherwise, -1 is all processors.

    Raises
    ------
    ValueError
        If it is 0, or True or False.

    Examples
    --------
    >>> from sklearn_subanneal._core.workers import n_workers
    >>> n_workers(2)
    2
    """
    if isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(
            "n_jobs must be None, a number of workers, or -1 for as many as there are processors, got "
            f"{shortened(n_jobs)}"
        )
    return effective_n_jobs(n_jobs)
