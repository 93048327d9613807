"""Measures of any list of topics: coherence of their words, diversity, twins, and agreement of two lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal.topics.cooccurrence import Cooccurrence, in_documents, in_texts
from sklearn_subanneal.topics.similar_topics import TWIN_AFFINITY, affinities, n_twins

__all__ = ["COHERENCES", "TWIN_AFFINITY", "affinities", "coherence", "diversity", "matched_affinities", "n_twins"]

#: Coherences, with the tokens of the window over texts in which words occur together; None: the whole text.
COHERENCES = {"npmi": 10, "c_v": 110, "u_mass": None}
# Added to probabilities of words together, so that their logarithms are finite.
LEAST = 1e-12


def coherence(words: ArrayLike, documents, measure: str = "npmi", *, window: int | str | None = "default") -> NDArray:
    """How often the top words of each topic occur together, by one of three measures of coherence.

    "npmi" is the mean over pairs of words of their normalised pointwise mutual information, log(p(v, w) / (p(v) p(w)))
    / -log p(v, w), which is 1 of two words that are in every document. "c_v" is the mean over words of a cosine:
    between the vector of the normalised pointwise mutual information of the word with all of them, and the sum of these
    vectors. "u_mass" is the mean over pairs of log((p(v, w) + 1e-12) / p(v)), where v is before w. Pairs with a word
    that occurs nowhere are left out; a topic without any other pair, of which one word occurs or none, has the least
    value, -1 (u_mass: log 1e-12).

    Parameters
    ----------
    words : array-like of shape (n_topics, n_words)
        The top words of each topic, the most probable first: tokens, or columns of ``documents``.
    documents : {ndarray, sparse matrix} of shape (n_documents, n_features), or iterable of sequence of str
        Counts, where words occur together if they are in the same document; or the tokens of texts, where they do if
        they are in the same window.
    measure : {"npmi", "c_v", "u_mass"}, default="npmi"
    window : int, None or "default", default="default"
        Tokens of the windows over texts; None: whole texts. By default 10 for "npmi", 110 for "c_v", and whole texts
        for "u_mass". No effect on counts.

    Returns
    -------
    coherences : ndarray of shape (n_topics,)
        The larger the better. "npmi" and "c_v" are from -1 to 1.

    Raises
    ------
    ValueError
        If the measure is unknown, ``words`` is not an array of at least two words a topic, or a word is not a column.

    Notes
    -----
    Equal to those of gensim (``CoherenceModel`` with "c_npmi", "c_v" and "u_mass") for counts, and for texts if no word
    is twice in a window: in a window that moves over a text, gensim takes a word for gone once its first occurrence has
    left, even if it occurs again. Other exceptions are words that are in every window, for pairs of which gensim takes
    -1 in place of 1, and topics of which one word occurs or none.

    References
    ----------
    M. Roeder, A. Both, A. Hinneburg (2015), Exploring the space of topic coherence measures, WSDM.

    D. Mimno, H. Wallach, E. Talley, M. Leenders, A. McCallum (2011), Optimizing semantic coherence in topic models,
    EMNLP.

    Examples
    --------
    >>> from sklearn_subanneal.topics.measures import coherence
    >>> texts = [["cat", "dog", "pet"], ["cat", "dog"], ["bond", "stock"], ["stock", "bond", "dog"]]
    >>> coherence([["cat", "dog"], ["cat", "stock"]], texts).round(2)
    array([ 0.42, -0.95])
    """
    if not isinstance(measure, str) or measure not in COHERENCES:
        raise ValueError(f"measure must be one of {list(COHERENCES)}, got {measure!r}")
    words = np.asarray(words)
    if words.ndim != 2 or words.shape[1] < 2:
        raise ValueError(f"words must have shape (n_topics, n_words) with at least 2 words, got {words.shape}")
    distinct, places = np.unique(words, return_inverse=True)
    places = places.reshape(words.shape)
    if sparse.issparse(documents) or (isinstance(documents, np.ndarray) and documents.ndim == 2):
        if distinct.dtype.kind not in "iu" or distinct[0] < 0 or distinct[-1] >= documents.shape[1]:
            raise ValueError(
                f"words must be numbers of the {documents.shape[1]} columns of documents, got "
                f"{distinct[0]} to {distinct[-1]}; give tokens with texts"
            )
        together = in_documents(sparse.csr_matrix(documents), distinct)
    else:
        width = COHERENCES[measure] if window == "default" else window
        if width is not None:
            checked_integer("window", width, otherwise='None, "default" or ')
        together = in_texts(documents, distinct.tolist(), width)
    return np.array([_COHERENCE[measure](_of_words(together, own)) for own in places])


def _of_words(together: Cooccurrence, words):
    """Probabilities of being in a window, of pairs of some words and of each; NaN of a pair of which one is nowhere."""
    pairs = together.counts[np.ix_(words, words)] / max(together.n_windows, 1)
    alone = pairs.diagonal().copy()
    return np.where(np.outer(alone, alone) > 0.0, pairs, np.nan), alone


def _npmi_of_pairs(pairs, alone):
    logs = np.log(pairs + LEAST)
    with np.errstate(divide="ignore", invalid="ignore"):
        information = (logs - np.log(np.outer(alone, alone))) / -logs
    # Two words that are everywhere are always together, though neither tells of the other.
    return np.where(pairs == 1.0, 1.0, information)


def _npmi(probabilities):
    pairs = _npmi_of_pairs(*probabilities)[np.triu_indices(len(probabilities[1]), 1)]
    return _mean(pairs, -1.0)


def _c_v(probabilities):
    if (probabilities[1] > 0.0).sum() < 2:
        return -1.0
    vectors = np.nan_to_num(_npmi_of_pairs(*probabilities), nan=0.0)
    whole = vectors.sum(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(whole)
    seen = lengths > 0.0
    return _mean((vectors @ whole)[seen] / lengths[seen], -1.0)


def _u_mass(probabilities):
    pairs, alone = probabilities
    before, after = np.triu_indices(len(alone), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _mean(np.log((pairs[before, after] + LEAST) / alone[before]), np.log(LEAST))


def _mean(values, otherwise):
    values = values[~np.isnan(values)]
    return values.mean() if len(values) else otherwise


_COHERENCE = {"npmi": _npmi, "c_v": _c_v, "u_mass": _u_mass}


def diversity(words: ArrayLike) -> float:
    """Share of the top words of all topics that are distinct: 1 if no word is in two topics.

    Parameters
    ----------
    words : array-like of shape (n_topics, n_words)
        Usually 25 words a topic.

    Returns
    -------
    diversity : float
        From 1 / n_topics to 1.

    References
    ----------
    A. Dieng, F. Ruiz, D. Blei (2020), Topic modeling in embedding spaces, TACL 8.

    Examples
    --------
    >>> from sklearn_subanneal.topics.measures import diversity
    >>> diversity([["cat", "dog"], ["cat", "stock"]])
    0.75
    """
    words = np.asarray(words)
    return len(np.unique(words)) / words.size


def matched_affinities(topics: ArrayLike, others: ArrayLike) -> NDArray:
    """Affinity of each topic to the one it is matched with in another list, by the best matching one to one.

    The share above 0.9 says how many topics two fits have in common.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_words)
    others : array-like of shape (n_others, n_words)

    Returns
    -------
    affinities : ndarray of shape (min(n_topics, n_others),)
        In the order of ``topics``.

    Examples
    --------
    >>> from sklearn_subanneal.topics.measures import matched_affinities
    >>> matched_affinities([[1, 0, 0], [0, 1, 1]], [[0, 1, 0], [1, 0, 0]]).round(2)
    array([1.  , 0.71])
    """
    between = affinities(topics, others)
    return between[linear_sum_assignment(-between)]
