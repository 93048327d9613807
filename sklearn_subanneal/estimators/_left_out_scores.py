"""ScoreCalibration: scores of new rows made comparable with those of training rows, by rows that were left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from sklearn_subanneal.annealing.subsampling import resolve_subsampling
from sklearn_subanneal.tables.row_weights import repeated_rows

# Parts of the table, one of which is left out of each model; tables of fewer rows are not calibrated.
N_PARTS, FEWEST_ROWS = 4, 20


@dataclass(frozen=True, eq=False)
class ScoreCalibration:
    """An increasing function from scores of new rows to scores of training rows that are as odd.

    Training rows are judged by the others, but they have had a part in clusters and hyperparameters. In small tables
    new rows of the same distribution are therefore odder than training rows. How much is learned from training rows
    that were left out of other models: where their scores have a quantile, those of training rows have the same one.

    Attributes
    ----------
    left_out, training : ndarray of shape (n_knots,)
        Ascending scores of rows that were left out, and of training rows with the same ranks. Linear in between, and of
        slope 1 beyond. Empty: the scores stay as they are.
    """

    left_out: np.ndarray
    training: np.ndarray

    @classmethod
    def of(cls, left_out: np.ndarray, training: np.ndarray) -> Self:
        """From scores of rows that were left out, and those of all training rows, ascending.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal.estimators._left_out_scores import ScoreCalibration
        >>> calibration = ScoreCalibration.of(np.array([1.0, -3.0, -1.0]), np.array([-2.0, 0.0, 2.0]))
        >>> calibration(np.array([-4.0, -1.0, 0.0])).tolist()
        [-2.0, 0.0, 0.5]
        """
        values, counts = np.unique(left_out, return_counts=True)
        # Equal scores have the mean of their ranks.
        shares = (np.cumsum(counts) - 0.5 * (counts - 1.0)) / (len(left_out) + 1.0)
        return cls(values, np.quantile(training, shares) if len(values) else values)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """The scores of training rows that are as odd as new rows with these scores."""
        if not len(self.left_out):
            return scores
        inside = np.clip(scores, self.left_out[0], self.left_out[-1])
        return np.interp(inside, self.left_out, self.training) + scores - inside


def scores_of_left_out_rows(
    detector, X, of_rows: dict, groups: np.ndarray, sorted_scores: np.ndarray, random_state: int
) -> np.ndarray:
    """Scores of training rows that models of the other rows give, in terms of the model of all rows.

    A quarter of the rows at a time is left out of a model of one chain, until there are ``detector.n_calibration``
    rows, or each row was left out. The score of such a row is the quantile of the training scores of the model of all
    rows that has the rank of the row among the training scores of its own model; for a row that is odder than all of
    these, it is as much lower than the lowest. Equal rows are left out together.

    Parameters
    ----------
    detector : CrossCatDetector
        That of all rows.
    X : array-like or DataFrame of shape (n_samples, n_features)
    of_rows : dict of str to ndarray of shape (n_samples,)
        Weights and strata.
    groups : ndarray of int, shape (n_samples,)
        The first row that has the cells of each row.
    sorted_scores : ndarray of shape (n_training,)
        Those of the training rows of the model of all rows, ascending.
    random_state : int
        Of the division, and of the models.

    Returns
    -------
    scores : ndarray of shape (n_left_out,)
        Of rows that are equal, as many as there are, by their weights. Without parts that a model of the other rows
        cannot judge.
    """
    distinct = np.unique(groups)
    if not detector.n_calibration or len(distinct) < FEWEST_ROWS:
        return np.empty(0)
    generator = np.random.default_rng(random_state)
    parts = np.array_split(generator.permutation(distinct), N_PARTS)
    parts = parts[: min(-(-N_PARTS * detector.n_calibration // len(distinct)), N_PARTS)]
    seeds = generator.integers(np.iinfo(np.int32).max, size=len(parts)).tolist()
    with warnings.catch_warnings():
        # What there is to say was said of the model of all rows.
        warnings.simplefilter("ignore")
        own = [
            _ranks_of_a_part(detector, X, of_rows, ~np.isin(groups, part), seed)
            for part, seed in zip(parts, seeds, strict=True)
        ]
    return np.concatenate([np.quantile(sorted_scores, ranks) + lower for ranks, lower in own])


def _ranks_of_a_part(detector, X, of_rows, kept, seed):
    """Of rows that were left out: ranks, from 0 to 1, and by how much they are below the lowest training score."""
    model = detector.estimator.estimator if isinstance(detector.estimator, FrozenEstimator) else detector.estimator
    model = clone(detector.crosscat_ if model is None else model)
    limit, strata = model.time_limit, resolve_subsampling(model.subsampling)
    model.set_params(
        n_chains=1,
        warm_start=False,
        time_limit=None if limit is None else limit / N_PARTS,
        subsampling=strata.of_copies(np.flatnonzero(kept), len(kept)),
    )
    own = type(detector)(model, contamination=detector.contamination, n_calibration=0, random_state=seed)
    try:
        own.fit(repeated_rows(X, kept), **{name: values[kept] for name, values in of_rows.items()})
        # A row may be equal to others by the types that their model has found.
        scores, is_new = own._scores_of(repeated_rows(X, ~kept))
    except ValueError:
        # The other rows have other types: where they are above 0, a column may be modelled by its logarithm.
        return np.empty(0), np.empty(0)
    scores = np.repeat(scores, is_new * of_rows.get("sample_weight", np.ones(len(kept), int))[~kept])
    places = np.arange(len(own._sorted_scores)) / (len(own._sorted_scores) - 1)
    return np.interp(scores, own._sorted_scores, places), np.minimum(scores - own._sorted_scores[0], 0.0)
