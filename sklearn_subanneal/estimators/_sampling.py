"""What methods that sample share: their random generators, and the missing cells of sampled rows."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal._core.random_states import seeded_generator
from sklearn_subanneal.views.pattern_donors import donated_patterns


def sampling_generator(n_samples: int, random_state, name: str = "n_samples") -> np.random.Generator:
    """The generator of a method that samples, whose number of samples, of this name, is checked."""
    checked_integer(name, n_samples)
    return seeded_generator(random_state)


def with_missing_cells(estimator, average, rows, made, given, generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Sampled rows of which cells are missing, and which cells of their parts are drawn.

    Parameters
    ----------
    estimator : estimator
        It has ``_patterns`` and ``_copies`` of its training rows, and their labels in ``_results``.
    average, rows, given, generator
        As of :func:`~sklearn_subanneal.views.pattern_donors.donated_patterns`.
    made : ndarray of bool, shape (1, n_parts)
        Which parts were drawn.
    """
    # A callback sees a model without its training rows.
    check_is_fitted(estimator, "_patterns")
    labels = [np.atleast_2d(own) for result in estimator._results for own in result.labels]
    patterns = estimator._patterns.take(estimator._copies.rows)
    left_out = donated_patterns(average, labels, patterns, rows, given, generator)
    rows = [
        np.where(gaps, np.array(np.nan if own.dtype.kind == "f" else -1, own.dtype), own)
        for gaps, own in zip(left_out.T, rows, strict=True)
    ]
    return rows, made & ~left_out
