"""ScoreCalibration: scores of new rows made comparable with those of training rows, by rows that were left out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from sklearn.base import clone

from sklearn_subanneal.annealing.subsampling import resolve_subsampling
from sklearn_subanneal.estimators._drift import gaps_of_columns
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

    @classmethod
    def of_parts(cls, parts: Sequence[LeftOutPart], training: np.ndarray) -> Self:
        """From rows that were left out of other models.

        The score of such a row is the quantile of the training scores that has its rank among the training scores of
        its own model; for a row that is odder than all of these, it is as much lower than the lowest.

        Parameters
        ----------
        parts : list of LeftOutPart
        training : ndarray of shape (n_training,)
            Scores of all training rows, ascending.
        """
        scores = [np.quantile(training, part.ranks) + part.lower for part in parts]
        return cls.of(np.concatenate([np.empty(0), *scores]), training)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """The scores of training rows that are as odd as new rows with these scores."""
        if not len(self.left_out):
            return scores
        inside = np.clip(scores, self.left_out[0], self.left_out[-1])
        return np.interp(inside, self.left_out, self.training) + scores - inside


class LeftOutPart(NamedTuple):
    """Rows that were left out of a model of the other rows.

    Attributes
    ----------
    ranks : ndarray of shape (n_left_out,)
        Of each row among the training rows of its model by score, from 0 to 1.
    lower : ndarray of shape (n_left_out,)
        0, and less by as much as a score is below the lowest training score.
    excess : ndarray of shape (3, n_columns)
        By how much the cells are more surprising than those of the training rows: for each column the mean, its
        variance, and the number of cells.
    """

    ranks: np.ndarray
    lower: np.ndarray
    excess: np.ndarray


def parts_left_out(detector, X, of_rows: dict, groups: np.ndarray, random_state: int) -> list[LeftOutPart]:
    """Training rows as models of the other rows judge them.

    A quarter of the rows at a time is left out of a model of one chain, until there are ``detector.n_calibration``
    rows, or each row was left out. Equal rows are left out together.

    Parameters
    ----------
    detector : CrossCatDetector
        That of all rows.
    X : array-like or DataFrame of shape (n_samples, n_features)
    of_rows : dict of str to ndarray of shape (n_samples,)
        Weights and strata.
    groups : ndarray of int, shape (n_samples,)
        The first row that has the cells of each row.
    random_state : int
        Of the division, and of the models.

    Returns
    -------
    parts : list of LeftOutPart
        Those that a model of the other rows can judge. Rows that are equal count by their weights.
    """
    distinct = np.unique(groups)
    if not detector.n_calibration or len(distinct) < FEWEST_ROWS:
        return []
    generator = np.random.default_rng(random_state)
    parts = np.array_split(generator.permutation(distinct), N_PARTS)
    parts = parts[: min(-(-N_PARTS * detector.n_calibration // len(distinct)), N_PARTS)]
    seeds = generator.integers(np.iinfo(np.int32).max, size=len(parts)).tolist()
    with warnings.catch_warnings():
        # What there is to say was said of the model of all rows.
        warnings.simplefilter("ignore")
        judged = [
            _judged_part(detector, X, of_rows, ~np.isin(groups, part), seed)
            for part, seed in zip(parts, seeds, strict=True)
        ]
    return [part for part in judged if part is not None]


def _judged_part(detector, X, of_rows, kept, seed) -> LeftOutPart | None:
    """The rows that are not kept, as a model of the others judges them; None if it cannot."""
    model = clone(detector.crosscat_)
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
        left = repeated_rows(X, ~kept)
        scores, is_new, cells, surprisal = own._scores_of(left)
    except ValueError:
        # The other rows have other types: where they are above 0, a column may be modelled by its logarithm.
        return None
    weights = is_new * of_rows.get("sample_weight", np.ones(len(kept), int))[~kept]
    scores, copies = np.repeat(scores, weights), np.repeat(np.arange(is_new.sum()), weights[is_new])
    gaps = gaps_of_columns(own.crosscat_, left)[is_new][copies]
    cells = [array[copies] for array in cells]
    without_units = own._cell_units.of_cells(cells, surprisal[copies])
    excess = own._compared.excess(cells, without_units, gaps, np.ones(len(copies), bool))
    places = np.arange(len(own._sorted_scores)) / (len(own._sorted_scores) - 1)
    ranks = np.interp(scores, own._sorted_scores, places)
    return LeftOutPart(ranks, np.minimum(scores - own._sorted_scores[0], 0.0), excess)
