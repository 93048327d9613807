"""Columns of bags of words: Dirichlet-multinomial given the cluster, with words that documents repeat on their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns.categorical import ALPHA_GRID
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.tables.documents import Documents

# Added to the number of documents that have a word. It makes the prior of small corpora flatter, whose counts say less.
SMOOTHING = 2.0
# The prior of a cluster weighs at most this part of all words of the corpus. With more, all clusters would be as the
# corpus is, and no document would have a reason to be in one of them. The least weight and the first one are parts of
# the most.
MOST, LEAST, FIRST = 1 / 4, 1 / 200, 1 / 16
# If a document has on average more than this share of all words, what it has says little, and how often all the more.
DENSE = 0.5
# Values of the grid of beta.
N_GRID = 12
# Bounds of the logarithm of the concentration of repeated words.
REPETITION = np.log(1e-3), np.log(1e9)


@dataclass(frozen=True)
class BagOfWords(ColumnModel):
    """A column of bags of words.

    The first occurrence of a word in a document is a draw from the cluster, whose distribution of words has a Dirichlet
    prior with weights beta * base. The other occurrences are copies of earlier words of the same document, by an urn
    whose concentration is estimated from all documents: word t + 1 is a copy with probability t / (concentration + t).
    What a document repeats is then no evidence for clusters: with repeated words as draws of the cluster, each long
    document is best explained by a cluster of its own (Madsen et al., 2005; Elkan, 2006). That a new draw can be a word
    that the document has already is neglected, as in the latter: densities are lower bounds of those of the urns.

    ``feature_params`` can give ``beta``, the mean weight; ``base``, the relative weights of the words, one number for
    equal ones; and ``repeats``: "document", or "cluster" for a multinomial of all occurrences, which is the default if
    documents have on average more than half of all words. By default the base is the number of training documents that
    have the word, plus 2; with a multinomial, weights are equal.

    References
    ----------
    R. E. Madsen, D. Kauchak, C. Elkan (2005), Modeling word burstiness using the Dirichlet distribution, ICML.

    C. Elkan (2006), Clustering documents with an exponential-family approximation of the Dirichlet compound multinomial
    distribution, ICML.
    """

    kind, declared, single = "bag-of-words", False, False
    learned_from = 512, 1 / 2
    hyperparameters = {
        "beta": Hyperparameter(),
        "base": Hyperparameter(one_each=True, learned=False),
        "repeats": Hyperparameter("choice", choices=("document", "cluster"), learned=False),
    }
    data_class, statistics_class = BagOfWordsData, BagOfWordsStatistics

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        own = given.get("repeats", default_repeats(cells)) == "document"
        base = given.get("base", None if own else 1.0)
        start = {"n_words": n_categories, "base": cls._base(name, base, cells, n_categories)}
        grid, first = ALPHA_GRID, 0.1
        if own:
            start["repetition"] = 1.0 if cells is None else estimated_repetition(cells)
        if own and cells is not None:
            most = MOST * cells.counts.nnz / n_categories
            grid, first = geometric_grid(LEAST * most, most, N_GRID), FIRST * most
        start["beta"] = float(given.get("beta", first))
        return cls(name, sources, start, {"beta": grid} if learn else {})

    @classmethod
    def _base(cls, name, given, cells, n_words):
        """Relative weights of the words, with the mean 1."""
        if given is None:
            given = SMOOTHING + (0.0 if cells is None else np.bincount(cells.counts.indices, minlength=n_words))
        elif np.ndim(given) and np.shape(given) != (n_words,):
            raise ValueError(
                f"feature_params[{name!r}]['base'] has the shape {np.shape(given)}; give one weight for each of the "
                f"{n_words} words, or a single number"
            )
        base = np.broadcast_to(np.asarray(given, np.float64), n_words)
        return base / base.mean()

    @property
    def repetition(self) -> float:
        """The concentration of the urns of documents; infinite if all occurrences are the cluster's."""
        return self.parameters.get("repetition", np.inf)

    def data(self, arrays):
        data = BagOfWordsData(arrays[self.sources[0]].counts)
        return data.once() if np.isfinite(self.repetition) else data

    def values(self, arrays):
        """The bags, which have no units."""
        return arrays[self.sources[0]]

    def log_jacobian(self, values):
        """Log probability of each bag's repetitions, given its words."""
        return log_repetitions(values, self.repetition) if np.isfinite(self.repetition) else 0.0

    def _has_own_units(self):
        return not np.isfinite(self.repetition)

    def cells_per_row(self, arrays):
        return arrays[self.sources[0]].counts.nnz / max(len(arrays[self.sources[0]]), 1)

    def log_masses(self, column, values, n_clusters):
        return column.log_densities(values, n_clusters)

    def report(self, parameters):
        return {"beta": parameters["beta"]}


def default_repeats(bags: Documents | None) -> str:
    """What repeats words if ``feature_params`` does not say."""
    if bags is None or bags.counts.nnz <= DENSE * np.prod(bags.counts.shape):
        return "document"
    return "cluster"


def log_repetitions(bags: Documents, concentration: float) -> np.ndarray:
    """Log probability, for each bag, of which of its words are new and of what the others repeat, (n_rows,).

    With n words, v of them different, it is log Gamma(a) - log Gamma(a + n) + v log a + sum_w log Gamma(n_w), where a
    is the concentration.
    """
    counts = bags.counts
    copies = sparse.csr_array((gammaln(counts.data.astype(np.float64)), counts.indices, counts.indptr), counts.shape)
    return copies.sum(axis=1) + _log_of_copying(np.diff(counts.indptr), bags.lengths, concentration)


def _log_of_copying(n_new: np.ndarray, lengths: np.ndarray, concentration: float) -> np.ndarray:
    """The part that depends on the concentration: whether each word is a copy."""
    return n_new * np.log(concentration) + gammaln(concentration) - gammaln(concentration + lengths)


def estimated_repetition(bags: Documents) -> float:
    """The concentration with the largest likelihood, which does not depend on clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from sklearn_subanneal.columns.bag_of_words import estimated_repetition
    >>> from sklearn_subanneal.tables.documents import Documents
    >>> often, once = np.tile([9, 0, 1], (5, 1)), np.tile([1, 1, 1], (5, 1))
    >>> estimated_repetition(Documents(sparse.csr_array(often))) < 1.0
    True
    >>> estimated_repetition(Documents(sparse.csr_array(once))) > 1e6
    True
    """
    n_new, lengths = np.diff(bags.counts.indptr), bags.lengths
    found = minimize_scalar(
        lambda log_a: -float(np.sum(_log_of_copying(n_new, lengths, np.exp(log_a)))),
        bounds=REPETITION,
        method="bounded",
    )
    return float(np.exp(found.x))
